/**
 * `npm run simulate:host`: runs of the whole host from seeds. It stands among the tests because it is ours alone: it
 * replaces the clocks of its whole process, which no user of the library wants, and knows the inside of the host.
 */
import { network } from './world/network.ts'
import { VirtualLoop } from './world/virtual-loop.ts'

const loop = new VirtualLoop()
// before the host is loaded: what it imports is what the loop gives
loop.install()
network.install()
const { simulate } = await import('./simulate.ts')
process.exitCode = await simulate(loop, process.argv.slice(2))
