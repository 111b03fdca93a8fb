<?php
// PHP-Minecraft-Query: TYPE HOST PORT -> one JSON object. PHP_MINECRAFT_QUERY names its checkout.
$folder = getenv('PHP_MINECRAFT_QUERY') . '/src/';
require $folder . 'MinecraftQueryException.php';
require $folder . 'MinecraftQuery.php';
[, , $host, $port] = $argv;
$query = new \xPaw\MinecraftQuery();
$query->Connect($host, (int) $port, 3, false);
$status = $query->GetInfo();
echo json_encode([
    'name' => $status['HostName'],
    'map' => $status['Map'],
    'player_count' => $status['Players'],
    'max_players' => $status['MaxPlayers'],
    'players' => array_map(fn ($name) => ['name' => $name], $query->GetPlayers() ?: []),
], JSON_THROW_ON_ERROR), "\n";
