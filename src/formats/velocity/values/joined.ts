/** Joins a collection or map to a text, and charges the text while it grows. */
import { shownText } from './text.ts'
import type { Environment, Value } from './value.ts'

export function joined(open: string, items: readonly Value[], close: string, environment: Environment): string {
  const { budget } = environment
  budget.enter()
  let text = open
  for (const [i, item] of items.entries()) {
    text += `${i === 0 ? '' : ', '}${shownText(item, environment)}`
    budget.make(text.length > 4_096 ? text.length >> 3 : 0)
    if (text.length > budget.limits.characters) budget.make(text.length)
  }
  budget.leave()
  return text + close
}
