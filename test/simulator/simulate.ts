/** The command that simulates: seeds or cases in, findings out. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Report } from './report.ts'
import { runMutants } from './run-mutants.ts'
import { drawPlan } from './world/draw-plan.ts'
import type { Plan } from './world/plan.ts'
import { runPlan, type RunResult } from './world/run-plan.ts'
import { shrink } from './world/shrink.ts'
import type { VirtualLoop } from './world/virtual-loop.ts'

const OPTIONS = {
  /** one run, with all that happened in it */
  seed: { type: 'string' },
  /** that many runs, from the seed `from` */
  seeds: { type: 'string' },
  from: { type: 'string', default: '1' },
  /** as many runs as so many hours allow; their seeds begin at `from` */
  hours: { type: 'string' },
  /** a file with a plan, with all that happened in its run; a folder of them, with findings alone */
  case: { type: 'string' },
  /** services whose operations are drawn, with commas between; of mutants, those whose names have it */
  only: { type: 'string' },
  /** a folder for the plans of runs with findings, made smaller */
  keep: { type: 'string' },
  /** ends with the first run that finds something */
  first: { type: 'boolean', default: false },
  /** puts mended faults back, and looks whether as many seeds find them */
  mutants: { type: 'boolean', default: false },
  /** of mutants: after so many minutes no other is begun */
  minutes: { type: 'string', default: '600' },
  /** of mutants: a file with what came out, with which a later call goes on */
  results: { type: 'string' },
  /** of mutants: JSON and no table */
  json: { type: 'boolean', default: false },
  /** every run is done twice and must be the same */
  twice: { type: 'boolean', default: false },
} as const

/** seeds within which a fault is to be found */
const MUTANT_SEEDS = 5000

/** Ends with 1 when something was found. */
export async function simulate(loop: VirtualLoop, args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS })
  const { seed, seeds, from, hours, only, keep, twice } = values
  if (values.mutants) {
    const { minutes, results, json } = values
    const many = { seeds: Number(seeds ?? MUTANT_SEEDS), from: Number(from), minutes: Number(minutes) }
    return runMutants({ ...many, root: process.cwd(), only: only ?? '', results, json }) > 0 ? 1 : 0
  }
  const draw = (name: string): Plan => drawPlan(name, only?.split(','))
  if (seed !== undefined) return showRun(await runPlan(loop, draw(seed)))
  if (values.case?.endsWith('.json') === true) return showRun(await runPlan(loop, readCase(values.case)))
  const report = new Report()
  const plans = values.case === undefined ? drawn(draw, Number(from), seeds, hours) : casesIn(values.case)
  for (const [name, plan] of plans) {
    const result = await runPlan(loop, plan)
    const again = twice ? await runPlan(loop, plan) : undefined
    const isNew = report.add(name, plan, result, again)
    if (isNew && values.first) break
    if (isNew && keep !== undefined) keepCase(keep, name, await smaller(loop, plan))
  }
  report.show()
  return report.failed > 0 ? 1 : 0
}

function* drawn(
  draw: (name: string) => Plan,
  from: number,
  seeds = '100',
  hours?: string,
): Generator<readonly [string, Plan]> {
  const end = process.hrtime.bigint() + BigInt(Math.round(Number(hours ?? 0) * 3.6e12))
  const isOver = (seed: number): boolean =>
    hours === undefined ? seed >= from + Number(seeds) : process.hrtime.bigint() > end
  for (let seed = from; !isOver(seed); seed++) yield [String(seed), draw(String(seed))]
}

function* casesIn(folder: string): Generator<readonly [string, Plan]> {
  for (const name of readdirSync(folder).toSorted()) yield [name, readCase(join(folder, name))]
}

function showRun({ findings, history, world }: RunResult): number {
  console.log(history.join('\n'))
  console.log({ ...world.counts, ...world.medium.counts })
  for (const { oracle, text } of findings) console.log(`${oracle}: ${text}`)
  return findings.length > 0 ? 1 : 0
}

function smaller(loop: VirtualLoop, plan: Plan): Promise<Plan> {
  return shrink(plan, async (one) => new Set((await runPlan(loop, one)).findings.map(({ oracle }) => oracle)))
}

function readCase(file: string): Plan {
  return JSON.parse(readFileSync(file, 'utf8')) as Plan
}

function keepCase(folder: string, name: string, plan: Plan): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(plan, undefined, 1)}\n`)
}
