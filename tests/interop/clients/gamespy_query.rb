# gamespy_query: TYPE HOST PORT -> one JSON object. GAMESPY_QUERY names its checkout.
require 'json'
$stdout = $stderr # It prints its errors.
$LOAD_PATH.unshift "#{ENV.fetch('GAMESPY_QUERY')}/lib"
require 'gamespy_query'

# Its log goes to standard error, not into a file.
GamespyQuery::Tools.instance_variable_set(:@logger, Logger.new($stderr))
status = GamespyQuery::Socket.new("#{ARGV[1]}:#{ARGV[2]}").sync
abort 'offline' if status.nil? || status.empty?
STDOUT.puts JSON.generate(
  name: status[:hostname],
  map: status[:mapname] || status[:map],
  player_count: status[:numplayers],
  max_players: status[:maxplayers],
  players: status[:players].map { |player| { name: player[:name], score: player[:score] } },
  rules: status.select { |_, value| value.is_a?(String) }
)
