// npm gamedig: TYPE HOST PORT -> one JSON object.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
const entry = createRequire(process.env.NODE_PATH + '/x.js').resolve('gamedig')
const { GameDig } = await import(pathToFileURL(entry))
const [type, host, port] = process.argv.slice(2)
const state = await GameDig.query({ type, host, port: Number(port), givenPortOnly: true, maxRetries: 1, socketTimeout: 3000 })
const raw = state.raw
console.log(JSON.stringify({
  name: state.name,
  map: state.map,
  player_count: state.numplayers,
  max_players: state.maxplayers,
  players: [...state.players, ...state.bots].map(({ name, raw }) => ({ name, score: raw.score ?? raw.frags })),
  rules: { ...raw, ...raw.rules }
}))
