/** Shrinks a run that found something, as long as the same oracle still finds something. */
import type { Plan, Step } from './plan.ts'

/** Maximum number of runs to try. */
const MAX_TRIES = 400

/** `finds`: returns the oracles that find something in a run. */
export async function shrink(plan: Plan, finds: (plan: Plan) => Promise<ReadonlySet<string>>): Promise<Plan> {
  const wanted = await finds(plan)
  let best = plan
  let tries = 0
  const attempt = async (steps: readonly Step[]): Promise<boolean> => {
    if (tries++ >= MAX_TRIES) return false
    const found = await finds({ ...plan, steps })
    if (![...found].some((oracle) => wanted.has(oracle))) return false
    best = { ...plan, steps }
    return true
  }
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = best.steps.length - size; at > -size; at -= size) {
      const from = Math.max(0, at)
      await attempt([...best.steps.slice(0, from), ...best.steps.slice(from + size)])
    }
  }
  return best
}
