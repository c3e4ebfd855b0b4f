/**
 * Runs `npm run simulate:host`: simulates the whole host from seeds. It belongs to the tests because it is internal: it
 * replaces the clocks of its whole process, and uses internals of the host.
 */
import { valuesOf } from './options.ts'
import { isForMany, runMany } from './run-many.ts'
import { network } from './world/network.ts'
import { VirtualLoop } from './world/virtual-loop.ts'

const values = valuesOf(process.argv.slice(2))
if (isForMany(values)) process.exitCode = await runMany(values, process.argv.slice(2))
else {
  const loop = new VirtualLoop()
  // must precede loading the host, whose imports then use the loop
  loop.install()
  network.install()
  const { simulate } = await import('./simulate.ts')
  process.exitCode = await simulate(loop, values)
}
