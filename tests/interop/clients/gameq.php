<?php
// GameQ: TYPE HOST PORT -> one JSON object. GAMEQ names its checkout.
error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('display_errors', 'stderr');
require getenv('GAMEQ') . '/src/GameQ/Autoloader.php';
[, $type, $host, $port] = $argv;
$gameq = new \GameQ\GameQ();
// The port of the address is the game's; GameQ would add its distance to the query port.
$gameq->addServer(['id' => 'server', 'type' => $type, 'host' => "$host:$port", 'options' => ['query_port' => (int) $port]]);
$gameq->setOption('timeout', 3);
$gameq->setOption('debug', true);
$result = $gameq->process()['server'];
if (!$result['gq_online']) {
    fwrite(STDERR, "offline\n");
    exit(1);
}
$first = function (...$keys) use ($result) {
    foreach ($keys as $key) {
        if (isset($result[$key]) && $result[$key] !== '') {
            return $result[$key];
        }
    }
};
$players = array_map(fn ($player) => [
    'name' => $player['gq_name'] ?? $player['name'] ?? $player['player'] ?? null,
    'score' => $player['gq_score'] ?? $player['score'] ?? $player['frags'] ?? null,
], $result['players'] ?? []);
echo json_encode([
    'name' => $first('gq_hostname', 'hostname', 'servername'),
    'map' => $first('gq_mapname', 'mapname', 'map'),
    'player_count' => $first('gq_numplayers', 'numplayers', 'clients'),
    'max_players' => $first('gq_maxplayers', 'maxplayers', 'sv_maxclients', 'maxclients'),
    'players' => array_values($players),
    'rules' => array_filter($result, 'is_scalar'),
], JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR), "\n";
