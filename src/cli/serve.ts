/** Defines the command `serve` and its options. */
import { type Given, type Option, OPTIONS, requirePackages } from '#host/spi'
import { gather, type DefineCommand } from './command.ts'

export const define: DefineCommand = (command, start) => {
  command.description(
    'Serves everything on one port until SIGTERM or SIGINT. When it is ready it prints its address and curl lines\n' +
      'to try. On the first start it makes an API key and secret, which those lines show once.\n' +
      'Each option can also come from the environment; an option on the command line wins.',
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
