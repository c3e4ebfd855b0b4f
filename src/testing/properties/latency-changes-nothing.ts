/** The property that the speed of plugs does not matter. */
import type { EngineEvent } from '#core'
import { firstDifference } from '../event-difference.ts'
import type { RuleProperty } from '../property.ts'

const LONGEST_MS = 5000

/**
 * Each answer of a plug is delayed by up to five seconds, by another length for each node. Only the times of events may
 * differ, and the order in which actuators answer.
 */
export function latencyChangesNothing(): RuleProperty {
  return {
    name: 'latency changes nothing',
    async check(run) {
      const { sensors = [], actuators = [] } = run.rule
      const lengths = [...sensors, ...actuators].map(
        ({ label }, i) => [label, 1 + (((run.seed ?? 1) * 31 + i * 977) % LONGEST_MS)] as const,
      )
      const late = await run.again({}, { latency: Object.fromEntries(lengths) })
      const acts = new Set(actuators.map(({ label }) => label))
      const [usual, other] = [partsOf(run.events, acts), partsOf(late.events, acts)]
      const difference =
        firstDifference(usual.inOrder, other.inOrder, { but: 'late' }) ??
        firstDifference(usual.answers, other.answers, { but: 'times' })
      if (difference === undefined) return undefined
      const told = lengths.map(([label, ms]) => `${label} ${ms} ms`).join(', ')
      return `with late answers (${told}) it differs ${difference}`
    },
  }
}

/** Separates answers of actuators, which may follow later inputs. */
function partsOf(events: readonly EngineEvent[], acts: ReadonlySet<string>) {
  const isAnswer = ({ type, node }: EngineEvent): boolean =>
    (type === 'result' || type === 'log') && node !== undefined && acts.has(node)
  const place = ({ invocation, node = '', type }: EngineEvent): string =>
    `${String(invocation).padStart(9, '0')} ${node} ${type}`
  const byPlace = (a: EngineEvent, b: EngineEvent): number => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0)
  return {
    inOrder: events.filter((event) => !isAnswer(event)),
    answers: events.filter(isAnswer).sort(byPlace),
  }
}
