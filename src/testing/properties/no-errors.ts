/** The property that no call of a plug fails. */
import { instantText } from '../moment-text.ts'
import { monitored, type RuleProperty } from '../property.ts'

/** No call of a plug fails, except those of the named nodes. */
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
