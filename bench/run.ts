/**
 * `npm run bench`: measures the workloads, the simulator and the memory of rules, and prints tables.
 * The same file is the entry of the processes that take the samples (`--sample <request as JSON>`).
 */
import { readOptions, HELP, type Options } from './options.ts'
import { ensurePeers } from './peers.ts'
import { failures, report } from './report.ts'
import { runRounds } from './rounds.ts'
import { takeSample, type SampleRequest } from './sample.ts'
import { PEER } from './subjects/index.ts'
import { workloads } from './workloads/index.ts'

async function main(args: readonly string[]): Promise<number> {
  const [first, request] = args
  if (first === '--sample' && request !== undefined) {
    const sample = await takeSample(JSON.parse(request) as SampleRequest)
    process.stdout.write(JSON.stringify(sample))
    return 0
  }
  const options = readOptions(args)
  if (options === undefined) {
    process.stdout.write(HELP)
    return 0
  }
  return bench(options)
}

async function bench(options: Options): Promise<number> {
  if (options.subjects.includes(PEER) && options.only.some((name) => workloads.has(name))) ensurePeers()
  const results = await runRounds(options, (text) => process.stderr.write(`bench: ${text}\n`))
  if (options.json) {
    const plain = { ...results, throughput: Object.fromEntries(results.throughput) }
    process.stdout.write(`${JSON.stringify({ node: process.version, options, ...plain }, null, 2)}\n`)
  } else {
    process.stdout.write(`Node ${process.version}, median of ${options.rounds}, CPU time of the main thread\n\n`)
    process.stdout.write(report(results))
  }
  const failed = failures(results)
  if (failed.length === 0) return 0
  process.stderr.write(`\n*** ${failed.length} FAILED\n${failed.map((line) => `*** ${line}\n`).join('')}`)
  return 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
