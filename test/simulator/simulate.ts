/** Implements the simulator command: runs seeds or cases, and reports findings. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FEW_SEEDS, type Values } from './options.ts'
import type { Portion } from './portion.ts'
import { Report } from './report.ts'
import { runMutants } from './run-mutants.ts'
import { drawPlan } from './world/draw-plan.ts'
import type { Plan } from './world/plan.ts'
import { runPlan, type RunResult } from './world/run-plan.ts'
import { shrink } from './world/shrink.ts'
import type { VirtualLoop } from './world/virtual-loop.ts'

/** number of seeds within which a fault must be found */
const MUTANT_SEEDS = 5000

/** Returns 1 when a run found something. */
export async function simulate(loop: VirtualLoop, values: Values): Promise<number> {
  const { seed, seeds, from, only, about } = values
  if (values.mutants) {
    const { minutes, results, json } = values
    const many = { seeds: Number(seeds ?? MUTANT_SEEDS), from: Number(from), minutes: Number(minutes) }
    return runMutants({ ...many, root: process.cwd(), only: only ?? '', about, results, json }) > 0 ? 1 : 0
  }
  if (values.worker) return serveParent(loop, values)
  if (seed !== undefined) return showRun(await runPlan(loop, planOf(seed, values)))
  if (values.case?.endsWith('.json') === true) return showRun(await runPlan(loop, readCase(values.case)))
  const portion = { from: Number(from), count: Number(seeds ?? FEW_SEEDS) }
  const report = await runAll(loop, values.case === undefined ? drawn(portion, values) : casesIn(values.case), values)
  console.log(report.text())
  return report.failed > 0 ? 1 : 0
}

async function runAll(loop: VirtualLoop, plans: Iterable<readonly [string, Plan]>, values: Values): Promise<Report> {
  const { twice, keep } = values
  const report = new Report()
  for (const [name, plan] of plans) {
    const result = await runPlan(loop, plan)
    const again = twice ? await runPlan(loop, plan) : undefined
    const isNew = report.add(name, plan, result, again)
    if (isNew && values.first) break
    if (isNew && keep !== undefined) keepCase(keep, name, await smaller(loop, plan))
  }
  report.end()
  return report
}

/** Runs portions until the parent exits. */
function serveParent(loop: VirtualLoop, values: Values): Promise<number> {
  process.on('message', (portion: Portion) => {
    void runAll(loop, drawn(portion, values), values).then((report) => process.send?.(report.met))
  })
  return new Promise((resolve) => void process.once('disconnect', () => resolve(0)))
}

function planOf(seed: string, { only, about }: Values): Plan {
  return drawPlan(seed, only?.split(','), about)
}

function* drawn({ from, count }: Portion, values: Values): Generator<readonly [string, Plan]> {
  for (let seed = from; seed < from + count; seed++) yield [String(seed), planOf(String(seed), values)]
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
