/** Defines the options of commands that call a host. */
import type { Command } from 'commander'

export function connected(command: Command): Command {
  return command
    .option('--url <address>', 'address of the host (REFLEXARC_URL, default http://127.0.0.1:8080)')
    .option('--key <key>', 'API key (REFLEXARC_API_KEY)')
    .option('--secret <secret>', 'secret of the key; safer in the environment (REFLEXARC_API_SECRET)')
    .option('--token <token>', 'bearer token, instead of key and secret (REFLEXARC_TOKEN)')
    .option('--json', 'print JSON')
}
