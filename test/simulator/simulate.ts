/** The command that simulates: seeds in, findings out. */
import { drawPlan } from './world/draw-plan.ts'
import { runPlan } from './world/run-plan.ts'
import type { VirtualLoop } from './world/virtual-loop.ts'

export async function simulate(loop: VirtualLoop, args: readonly string[]): Promise<number> {
  const option = (name: string): string | undefined => {
    const at = args.indexOf(`--${name}`)
    return at < 0 ? undefined : args[at + 1]
  }
  const began = process.hrtime.bigint()
  const one = option('seed')
  const from = Number(option('from') ?? 1)
  const seeds = one === undefined ? Array.from({ length: Number(option('seeds') ?? 100) }, (_, i) => String(from + i)) : [one]
  let failed = 0
  let asked = 0
  const totals = new Map<string, number>()
  const kinds = new Map<string, number>()
  for (const seed of seeds) {
    const { findings, history, world, digest } = await runPlan(loop, drawPlan(seed))
    asked += world.counts.asked
    for (const [name, count] of Object.entries({ ...world.counts, ...world.medium.counts })) totals.set(name, (totals.get(name) ?? 0) + count)
    if (args.includes('--twice')) {
      const again = await runPlan(loop, drawPlan(seed))
      if (again.digest !== digest) {
        const at = history.findIndex((line, i) => line !== again.history[i])
        console.log(`seed ${seed} is not the same twice: ${history[at]}\n  ${again.history[at]}`)
      }
    }
    if (one !== undefined) console.log(history.join('\n'), world.counts, world.medium.counts)
    if (findings.length > 0) {
      failed++
      for (const { oracle } of findings) kinds.set(oracle, (kinds.get(oracle) ?? 0) + 1)
      console.log(`seed ${seed}: ${findings.slice(0, 3).map(({ oracle, text }) => `${oracle}: ${text}`).join('\n   ')}`)
    }
  }
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  console.log(`${seeds.length} seeds, ${failed} with findings, ${asked} requests, ${seconds.toFixed(1)} s`, kinds, totals)
  return failed > 0 ? 1 : 0
}
