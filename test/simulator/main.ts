/** `npm run simulate:host`: runs of the whole host from seeds. */
import { VirtualLoop } from './world/virtual-loop.ts'

const loop = new VirtualLoop()
// before the host is loaded: what it imports is what the loop gives
loop.install()
const { simulate } = await import('./simulate.ts')
process.exitCode = await simulate(loop, process.argv.slice(2))
