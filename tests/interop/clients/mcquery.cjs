// npm mcquery: full|basic HOST PORT -> one JSON object.
const Query = require('mcquery')
const [form, host, port] = process.argv.slice(2)
const query = new Query(host, Number(port), { timeout: 3000 })
query.connect().then(() => {
  const done = (error, status) => {
    if (error) throw error
    console.log(JSON.stringify({
      name: status.hostname ?? status.MOTD,
      map: status.map,
      player_count: status.numplayers,
      max_players: status.maxplayers,
      players: (status.player_ ?? []).map(name => ({ name }))
    }))
    process.exit(0)
  }
  return form === 'full' ? query.full_stat(done) : query.basic_stat(done)
})
