/** Why a node did not fire, as lines of text. */
import type { Explanation, TriggerExplanation } from '#core'
import type { Paint } from '../terminal.ts'
import { visible } from '../visible.ts'

export function explainLines(explanation: Explanation, paint: Paint): string[] {
  const { node, triggers } = explanation
  if (triggers.length === 0) return [`${paint('bold', node)} has no trigger, so nothing can fire it`]
  return [`${paint('bold', node)} did not fire`, ...triggers.flatMap((trigger) => triggerLines(trigger, paint))]
}

function triggerLines({ condition, blocked, needs }: TriggerExplanation, paint: Paint): string[] {
  const dim = (text: string) => paint('dim', text.padEnd(10))
  const lines = [`  ${dim('waits for')}${condition}`]
  for (const { message } of blocked) lines.push(`  ${dim('held by')}${visible(message)}`)
  if (needs !== null && needs.length > 0) {
    const states = needs.map(({ node, state }) => `${node} ${state}`)
    lines.push(`  ${dim('needs')}${states.join(' and ')}`)
  }
  return lines
}
