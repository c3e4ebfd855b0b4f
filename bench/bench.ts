/** Runs the chosen measurements and prints tables or JSON, or compares with another state of the code. */
import { againstReport, compare, slowerLines } from './against.ts'
import { originOf } from '../src/bench/machine.ts'
import type { Section } from './measurement.ts'
import { measurements } from './measurements/index.ts'
import { HELP, readOptions, type Options } from './options.ts'
import { ensurePeers } from './peers.ts'
import { failures, report } from './report.ts'
import { ROOT, runRounds } from './rounds.ts'

/**
 * Returns the exit code: 0, 1 when a line failed, 2 when one is slower than `--fail-over` allows. Throws an Error for
 * invalid options.
 */
export async function bench(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options === undefined) {
    process.stdout.write(HELP)
    return 0
  }
  const sections = options.only.flatMap((name) => measurements.get(name)?.open(options) ?? [])
  if (sections.some(({ lines }) => lines.some(({ needsPeers }) => needsPeers))) ensurePeers()
  return options.against === undefined ? measure(sections, options) : against(sections, options, options.against)
}

const progress = (text: string) => void process.stderr.write(`bench: ${text}\n`)

async function measure(sections: readonly Section[], options: Options): Promise<number> {
  const origin = originOf(ROOT)
  await runRounds(sections, options.rounds, progress)
  if (options.json) {
    const lines = sections.map(({ name, title, lines: all, rows, conclusions }) => {
      const [head, ...body] = rows()
      return {
        name,
        title,
        table: { head, rows: body },
        conclusions: conclusions(),
        lines: all.map((line) => {
          const { failure } = line
          return {
            name: line.name,
            title: line.title,
            samples: line.samples,
            ...(failure !== undefined && { failure }),
          }
        }),
      }
    })
    print({ ...origin, options, measurements: lines })
  } else {
    const { cpu, cores } = origin.machine
    process.stdout.write(
      `Node ${origin.node}, ${cores} cores of ${cpu}, commit ${origin.commit?.slice(0, 10) ?? 'unknown'}, ${origin.date}\n` +
        `Median of up to ${options.rounds} rounds, CPU time of the main thread\n\n${report(sections)}`,
    )
  }
  return exitCode(failures(sections))
}

async function against(sections: readonly Section[], options: Options, ref: string): Promise<number> {
  const origin = originOf(ROOT)
  const result = await compare(sections, { ref, rounds: options.rounds }, progress)
  if (options.json) print({ ...origin, options, against: result })
  else process.stdout.write(againstReport(ref, result))
  const code = exitCode(
    result.comparisons.flatMap(({ measurement, title, failure }) =>
      failure === undefined ? [] : [`${measurement}, ${title}: ${failure}`],
    ),
  )
  const slower = options.failOver === undefined ? [] : slowerLines(result, options.failOver)
  for (const line of slower) process.stderr.write(`*** significantly slower than --fail-over allows: ${line}\n`)
  return code === 0 && slower.length > 0 ? 2 : code
}

function print(result: object): void {
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
}

function exitCode(failed: readonly string[]): number {
  if (failed.length === 0) return 0
  process.stderr.write(`\n*** ${failed.length} FAILED\n${failed.map((line) => `*** ${line}\n`).join('')}`)
  return 1
}
