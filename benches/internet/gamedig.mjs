// Queries the servers of a list with node gamedig, so many at once: FOLDER_OF_GAMEDIG AT_ONCE, a list on standard input. Prints
// seconds, index, players, rules and name of each answer. See benches/README.md.
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder, atOnce] = process.argv.slice(2)
const { GameDig } = await import(pathToFileURL(`${folder}/lib/index.js`).href)
const types = { quake3: 'quake3', gamespy1: 'gamespy1', gamespy4: 'gamespy3', ut2004: 'unreal2' }

const list = []
for await (const line of createInterface({ input: process.stdin })) list.push(line.split(' '))
const start = process.hrtime.bigint()
const isRule = (key) => key.startsWith('sv_rule')

async function ask () {
  for (let next = list.shift(); next; next = list.shift()) {
    const [index, protocol, address] = next
    const [host, port] = address.split(':')
    try {
      const state = await GameDig.query({ type: `protocol-${types[protocol]}`, host, port: Number(port), givenPortOnly: true })
      const seconds = Number(process.hrtime.bigint() - start) / 1e9
      const rules = Object.keys({ ...state.raw, ...state.raw.rules }).filter(isRule).length
      console.log(seconds, index, state.players.length + state.bots.length, rules, state.name)
    } catch {}
  }
}
await Promise.all(Array.from({ length: Number(atOnce) }, ask))
