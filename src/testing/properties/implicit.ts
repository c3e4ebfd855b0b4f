/** Defines properties of failed and missing plug results; every check includes most of them. */
import type { CheckedRun, Moment } from '../checked-run.ts'
import type { Metrics } from '../arbitraries/messages.ts'
import { instantText } from '../moment-text.ts'
import { type RuleProperty, monitored } from '../property.ts'
import { isSignal } from '../arbitraries/signals.ts'
import { silentText } from '../rule-paths.ts'

export function everyPlugAnswers(): RuleProperty {
  return {
    name: 'every plug returns',
    check({ unanswered, events, rule }) {
      if (unanswered === 0) return undefined
      const answered = new Set(events.flatMap((event) => (event.type === 'result' ? [event.node] : [])))
      const subject = silentText(rule, answered)
      return `${subject} did not return in time, ${unanswered === 1 ? 'once' : `${unanswered} times`}; increase patience if that is expected`
    },
  }
}

/** Requires that calls fail only at faulty messages: with NaN, null, a blank, a number as text, or a missing value. */
export function expectedErrors(
  allowed: readonly string[],
  {
    metrics = {},
    byResource = {},
  }: { readonly metrics?: Metrics; readonly byResource?: Readonly<Record<string, Metrics>> },
): RuleProperty {
  const isSpoilt = (moment: Moment): boolean => {
    const { message } = moment
    if (message === undefined) return false
    const generators = byResource[message.resource] ?? metrics
    if (Object.values(message).some(isNoValue)) return true
    return Object.entries(generators).some(
      ([name, generator]) => message[name] === undefined || isAsText(message[name], generator),
    )
  }
  return {
    name: 'no call of a plug fails, except with invalid or missing values',
    check({ moments }: CheckedRun) {
      let spoilt = false
      for (const moment of moments) {
        spoilt = moment.message === undefined ? spoilt : isSpoilt(moment)
        if (spoilt) continue
        const failure = moment.failed.find(({ node }) => !allowed.includes(node))
        if (failure === undefined) continue
        const { resource, timestamp: _timestamp, ...values } = moment.message ?? { resource: 'no message' }
        const sent = moment.message === undefined ? 'without a message' : `with ${resource} ${JSON.stringify(values)}`
        const hint = 'allow it with allowErrors if it is intended'
        return `${failure.node} failed at ${instantText(failure.time)}, ${sent}: ${failure.error ?? ''}; ${hint}`
      }
      return undefined
    },
  }
}

export function isNoValue(value: unknown): boolean {
  return value === null || Number.isNaN(value) || (typeof value === 'string' && value.trim() === '')
}

/** Returns whether a value is a number as text although its generator does not create such texts. */
function isAsText(value: unknown, generator: Metrics[string]): boolean {
  if (typeof value !== 'string' || !Number.isFinite(Number(value))) return false
  return isSignal(generator) || !generator.canShrinkWithoutContext(value)
}

/** Requires that no plug call fails, except those of the named nodes. */
export function noErrors(allowed: readonly string[] = []): RuleProperty {
  return monitored<null>(
    {
      start: null,
      next(memory, { failed, message }) {
        const failure = failed.find(({ node }) => !allowed.includes(node))
        if (failure === undefined) return { memory }
        const { resource: _resource, timestamp: _timestamp, ...values } = message ?? { resource: '' }
        const sent = message === undefined ? '' : ` with ${JSON.stringify(values)}`
        return {
          memory,
          wrong: `${failure.node} failed at ${instantText(failure.time)}${sent}: ${failure.error ?? ''}`,
        }
      },
    },
    { name: 'no plug fails' },
  )
}
