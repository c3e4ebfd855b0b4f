/**
 * `npm run bench`, and the entry of its sample processes (`--sample <request as JSON>`). Each loads only its own
 * modules.
 */
import type { SampleRequest } from './samples/sample.ts'

async function main(args: readonly string[]): Promise<number> {
  const [first, request] = args
  if (first === '--sample' && request !== undefined) return sample(JSON.parse(request) as SampleRequest)
  const { bench } = await import('./bench.ts')
  return bench(args)
}

async function sample(request: SampleRequest): Promise<number> {
  const { takeSample } = await import('./samples/sample.ts')
  const answer = JSON.stringify(await takeSample(request))
  // timers of some peers would keep the process alive
  process.stdout.write(answer, () => process.exit(0))
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  // as above
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`, () => process.exit(1))
}
