/**
 * Defines properties that compare two runs: what must stay the same when the messages or the rule change in a known
 * way.
 */
import { AppError, durationMs } from '#kernel'
import type { Rule, Template } from '#core'
import { instantOf } from '#core/spi'
import type { CheckedRun } from '../checked-run.ts'
import { instantText } from '../moment-text.ts'
import type { RuleProperty } from '../property.ts'

/**
 * Requires the same firings for messages shifted in time. Not for rules that depend on the calendar, unless the shift
 * (such as a week) does not matter to them. Throws `VALIDATION` for an invalid duration.
 */
export function shiftedInTime(by: number | string): RuleProperty {
  const ms = typeof by === 'number' ? by : durationMs(by)
  if (!Number.isFinite(ms) || ms === 0)
    throw new AppError('VALIDATION', `shiftedInTime(${String(by)}): use a duration such as 7d`)
  return {
    name: `everything ${typeof by === 'number' ? `${by} ms` : by} later fires the same`,
    async check(run) {
      const messages = run.messages.map((message, i) => ({ ...message, timestamp: instantOf(message, i + 1) + ms }))
      return difference(run, await run.again({ messages }), 'shifted', (time) => time - ms)
    },
  }
}

/** Requires that a rule for converted units, such as Fahrenheit, fires like this one. */
export function scaled(
  metrics: Readonly<Record<string, (value: number) => number>>,
  rule: Rule | Template,
): RuleProperty {
  return {
    name: `the rule for other units of ${Object.keys(metrics).join(', ')} fires the same`,
    async check(run) {
      const messages = run.messages.map((message) => {
        const changed = Object.entries(metrics).flatMap(([name, scale]) => {
          const value = message[name]
          return typeof value === 'number' ? [[name, scale(value)] as const] : []
        })
        return { ...message, ...Object.fromEntries(changed) }
      })
      return difference(run, await run.again({ messages, rule }), 'in other units')
    },
  }
}

/** Requires that repeating a message changes no firing. Not for rules that count messages. */
export function duplicatesChangeNothing(): RuleProperty {
  return {
    name: 'repeated messages change nothing',
    async check(run) {
      const messages = run.messages.flatMap((message) => [message, message])
      return difference(run, await run.again({ messages }), 'with each message twice', undefined, true)
    },
  }
}

/** Requires the same behavior for another resource, unless the rule names its resource by id. */
export function resourcesAreAlike(renamed: (resource: string) => string = (id) => `other-${id}`): RuleProperty {
  return {
    name: 'it acts the same for other resources',
    async check(run) {
      return difference(run, await run.again({}, { renamed }), 'for other resources')
    },
  }
}

/**
 * Requires the same firings as another rule, such as the previous version; reports the smallest stream with a
 * difference.
 */
export function sameAs(rule: Rule | Template): RuleProperty {
  return {
    name: 'it fires as the other rule',
    rules: [rule],
    async check(run) {
      return difference(run, await run.again({ rule }), 'by the other rule')
    },
  }
}

function difference(
  run: CheckedRun,
  other: CheckedRun,
  how: string,
  timeOf: (time: number) => number = (time) => time,
  once = false,
): string | undefined {
  const [usual, changed] = [firingsOf(run, (time) => time, once), firingsOf(other, timeOf, once)]
  const index = usual.findIndex((firing, i) => firing !== changed[i])
  if (index < 0 && changed.length <= usual.length) return undefined
  const at = index < 0 ? usual.length : index
  return `${how}: ${changed[at] ?? 'nothing more fires'}; else: ${usual[at] ?? 'nothing more fires'}`
}

function firingsOf(run: CheckedRun, timeOf: (time: number) => number, once: boolean): readonly string[] {
  const texts = run.firings().map(({ node, time }) => `${node} fires at ${instantText(timeOf(time))}`)
  return once ? [...new Set(texts)] : texts
}
