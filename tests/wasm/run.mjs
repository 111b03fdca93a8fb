// A query of a server on loopback by the crate as WebAssembly, over node's sockets: node tests/wasm/run.mjs MODULE.wasm
import assert from 'node:assert'
import dgram from 'node:dgram'
import { readFileSync } from 'node:fs'

const module = new WebAssembly.Module(readFileSync(process.argv[2]))
assert.deepEqual(WebAssembly.Module.imports(module), [], 'the module needs nothing of its host')
const { exports: session } = new WebAssembly.Instance(module)
const bytes = (length) => Buffer.from(session.memory.buffer, session.buffer(), length)

// A Quake 3 server that leaves the first request without an answer.
const server = dgram.createSocket('udp4')
let requests = 0
server.on('message', (request, from) => {
  requests += 1
  const challenge = request.toString('latin1').split(' ')[1]
  const reply = `\xff\xff\xff\xffstatusResponse\n\\sv_hostname\\Srv\\challenge\\${challenge}\n12 48 "Ann"\n0 9 "Bob"\n`
  if (requests > 1) server.send(Buffer.from(reply, 'latin1'), from.port, from.address)
})
server.bind(0, '127.0.0.1', () => {
  const socket = dgram.createSocket('udp4')
  let timer
  const go = () => {
    for (let length; (length = session.poll_transmit(performance.now())) >= 0; ) {
      socket.send(Buffer.from(bytes(length)), server.address().port, '127.0.0.1')
    }
    const length = session.poll_answer()
    if (length >= 0) {
      assert.equal(bytes(length).toString(), 'Srv: Ann, Bob (1 retries)')
      console.log('a query by WebAssembly in node:', bytes(length).toString())
      socket.close()
      return server.close()
    }
    clearTimeout(timer)
    timer = setTimeout(() => {
      session.handle_timeout(performance.now())
      go()
    }, session.poll_timeout(performance.now()))
  }
  socket.on('message', (datagram) => {
    clearTimeout(timer)
    bytes(datagram.length).set(datagram)
    session.handle_datagram(performance.now(), datagram.length)
    go()
  })
  session.start(performance.now())
  go()
})
