/** `reflexarc mcp`: serves the tools of assistants on standard input and output, for a host. */
import type { DefineCommand } from './command.ts'
import { ownVersion } from '#host/spi'
import { messageOf } from '#kernel'
import type { ProofRequest, Proved } from '#mcp'
import { connect, type ConnectFlags } from './functions/connect.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Serves the tools of a host to an assistant, over the Model Context Protocol on standard input and output. The\n' +
        'assistant starts this command. Its tools check, rehearse and explain rules, and propose drafts; they act with\n' +
        'the scopes of the key. A host serves the same tools at /mcp.',
    )
    .option('--url <address>', 'address of the host (REFLEXARC_URL, default http://127.0.0.1:8080)')
    .option('--key <key>', 'API key (REFLEXARC_API_KEY)')
    .option('--secret <secret>', 'secret of the key; safer in the environment (REFLEXARC_API_SECRET)')
    .option('--token <token>', 'bearer token, instead of key and secret (REFLEXARC_TOKEN)')
    .addHelpText('after', '\nExample:\n  reflexarc mcp --url http://127.0.0.1:8080')
    .action((flags: ConnectFlags) => start((terminal) => runMcp(flags, terminal)))
}

/** Ends with the input. Returns 1 after a message that cannot be read. */
async function runMcp(flags: ConnectFlags, terminal: Terminal): Promise<0 | 1> {
  const client = connect(flags, process.env)
  const { serveStdio } = await import('#mcp')
  const failed = (error: unknown): void => terminal.err(`error: ${messageOf(error)}\n`)
  const prove = async (request: ProofRequest): Promise<Proved> => (await import('#mcp/prove')).prove(request)
  // calls that wait after the end of the input keep the process
  const working = setInterval(() => undefined, 60_000)
  try {
    await serveStdio({ input: process.stdin, output: process.stdout }, { version: ownVersion(), client, prove, failed })
    return 0
  } catch (error) {
    failed(error)
    return 1
  } finally {
    clearInterval(working)
  }
}
