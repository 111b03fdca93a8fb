// npm minecraft-server-util: full|basic HOST PORT -> one JSON object.
const { queryFull, queryBasic } = require('minecraft-server-util')
const [form, host, port] = process.argv.slice(2)
const query = form === 'full' ? queryFull : queryBasic
query(host, Number(port), { timeout: 3000 }).then(status => {
  console.log(JSON.stringify({
    name: status.motd.raw,
    map: status.map,
    player_count: status.players.online,
    max_players: status.players.max,
    players: (status.players.list ?? []).map(name => ({ name }))
  }))
  process.exit(0)
})
