/* A game module without a game, for engines of Quake 3's family whose own module is not free: players may
 * take a slot with the right password, and then stand still. */

#include <stdint.h>
#include <string.h>

enum { INIT, SHUTDOWN, CLIENT_CONNECT };
enum { LOCATE_GAME_DATA = 15, GET_USERINFO = 20 };
enum { ENTITY_SIZE = 4096, CLIENTS = 64, CLIENT_SIZE = 16384 };

typedef intptr_t (*Engine)(intptr_t number, ...);

static Engine engine;
static char entities[CLIENTS][ENTITY_SIZE];
static char clients[CLIENTS][CLIENT_SIZE];

void dllEntry(Engine entry) { engine = entry; }

intptr_t vmMain(int command, int client) {
    static char userinfo[1024];
    if (command == INIT) {
        engine(LOCATE_GAME_DATA, entities, CLIENTS, ENTITY_SIZE, clients, CLIENT_SIZE);
    }
    if (command == CLIENT_CONNECT) {
        engine(GET_USERINFO, (intptr_t)client, userinfo, sizeof userinfo);
        if (strstr(userinfo, "\\password\\" PASSWORD) == NULL) {
            return (intptr_t)"Invalid password";
        }
    }
    return 0;
}
