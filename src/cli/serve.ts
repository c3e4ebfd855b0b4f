/** Defines the command `serve` and its options. */
import { type Given, type Option, OPTIONS, requirePackages } from '#host/spi'
import { gather, type DefineCommand } from './command.ts'

export const define: DefineCommand = (command, start) => {
  command.description(
    'Serves the whole API on one port until SIGTERM or SIGINT. When the host is ready, it prints its address and curl\n' +
      'commands to try. The first start creates an API key and a secret, which only these commands show.\n' +
      'Each option can also be set in the environment; an option on the command line takes precedence.',
  )
  const options: readonly Option[] = Object.values(OPTIONS)
  for (const { flag, env, value, help, default: usual, many } of options) {
    const notes = [env, ...(usual === undefined ? [] : [`default ${usual}`]), ...(many ? ['repeatable'] : [])].join(
      ', ',
    )
    const [flags, text] = [`--${flag}${value === undefined ? '' : ` <${value}>`}`, `${help} (${notes})`] as const
    if (many) command.option(flags, text, (one: string, earlier?: readonly string[]) => gather(one, earlier ?? []))
    else command.option(flags, text)
  }
  command.addHelpText('after', '\nExample:\n  reflexarc serve --port 8080 --data ./data').action((flags: Given) => {
    return start(async (terminal) => {
      requirePackages(flags, process.env)
      const { runServe } = await import('./run-serve.ts')
      return runServe(flags, terminal)
    })
  })
}
