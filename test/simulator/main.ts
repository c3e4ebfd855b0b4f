/**
 * `npm run simulate:host`: runs of the whole host from seeds. It stands among the tests because it is ours alone: it
 * replaces the clocks of its whole process, which no user of the library wants, and knows the inside of the host.
 */
import { valuesOf } from './options.ts'
import { isForMany, runMany } from './run-many.ts'
import { network } from './world/network.ts'
import { VirtualLoop } from './world/virtual-loop.ts'

const values = valuesOf(process.argv.slice(2))
if (isForMany(values)) process.exitCode = await runMany(values, process.argv.slice(2))
else {
  const loop = new VirtualLoop()
  // before the host is loaded: what it imports is what the loop gives
  loop.install()
  network.install()
  const { simulate } = await import('./simulate.ts')
  process.exitCode = await simulate(loop, values)
}
