<?php
// LGSL: TYPE HOST PORT -> one JSON object. LGSL names its checkout.
error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('display_errors', 'stderr');
$lgsl_config = ['timeout' => 3];
require getenv('LGSL') . '/lgsl_files/lgsl_protocol.php';
[, $type, $host, $port] = $argv;
$result = lgsl_query_live($type, $host, (int) $port, (int) $port, 0, 'sep');
if (!$result['b']['status']) {
    fwrite(STDERR, "offline\n");
    exit(1);
}
// Bytes that are no UTF-8 are shown as they came.
$text = fn ($value) => preg_match('//u', (string) $value) ? (string) $value : iconv('ISO-8859-1', 'UTF-8', (string) $value);
echo json_encode([
    'name' => $text($result['s']['name']),
    'map' => $text($result['s']['map']),
    'player_count' => $result['s']['players'],
    'max_players' => $result['s']['playersmax'],
    'players' => array_values(array_map(fn ($player) => [
        'name' => $text($player['name'] ?? ''),
        'score' => $player['score'] ?? null,
    ], $result['p'])),
    'rules' => (object) array_combine(array_map($text, array_keys($result['e'])), array_map($text, array_values($result['e']))),
], JSON_THROW_ON_ERROR), "\n";
