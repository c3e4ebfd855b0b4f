/** Matches regular expressions of java.util.regex in linear time, without lookaround and back references. */
import type { Budget } from '../budget.ts'
import { failed } from '../fault.ts'
import { parsePattern, type Instruction } from './pattern-syntax.ts'

/** Start and end of the match and of its groups; -1 for an unmatched group. */
export type Match = readonly number[]

interface Thread {
  readonly at: number
  readonly saved: readonly number[]
}

export class Pattern {
  readonly #program: readonly Instruction[]
  readonly groups: number
  readonly names: ReadonlyMap<string, number>

  constructor(source: string) {
    const { program, groups, names } = parsePattern(source)
    this.#program = program
    this.groups = groups
    this.names = names
  }

  /** Returns the first match from an offset. `whole`: only a match of the whole text. */
  find(text: string, from: number, budget: Budget, whole = false): Match | undefined {
    let current: Thread[] = []
    let best: Match | undefined
    for (let i = from; i <= text.length; i++) {
      const seen = new Set(current.map(({ at }) => at))
      if (best === undefined && (!whole || i === from)) this.#follow(0, [i], i, text, current, seen)
      if (current.length === 0 && best === undefined && !whole) continue
      if (current.length === 0) break
      budget.spend(1 + (current.length >> 2))
      const next: Thread[] = []
      const reached = new Set<number>()
      for (const { at, saved } of current) {
        const step = this.#program[at]
        if (step?.kind === 'match') {
          if (whole && i !== text.length) continue
          best = [saved[0] ?? 0, i, ...saved.slice(2)]
          break
        }
        if (step?.kind === 'char' && i < text.length && step.fits(text.charCodeAt(i))) {
          this.#follow(at + 1, saved, i + 1, text, next, reached)
        }
      }
      current = next
    }
    return best && Array.from({ length: 2 * (this.groups + 1) }, (_, i) => best?.[i] ?? -1)
  }

  /** Adds the states that are reachable without a character, in order of preference. */
  #follow(at: number, saved: readonly number[], i: number, text: string, threads: Thread[], seen: Set<number>): void {
    const open: Thread[] = [{ at, saved }]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      const step = this.#program[one.at]
      if (step === undefined || seen.has(one.at)) continue
      seen.add(one.at)
      if (step.kind === 'char' || step.kind === 'match') threads.push(one)
      else if (step.kind === 'split') {
        for (const to of step.to.toReversed()) open.push({ at: to, saved: one.saved })
      } else if (step.kind === 'jump') open.push({ at: step.to, saved: one.saved })
      else if (step.kind === 'save') {
        const saving = [...one.saved]
        while (saving.length <= step.slot) saving.push(-1)
        saving[step.slot] = i
        open.push({ at: one.at + 1, saved: saving })
      } else if (step.holds(text, i)) open.push({ at: one.at + 1, saved: one.saved })
    }
  }
}

export function* matchesOf(pattern: Pattern, text: string, budget: Budget): Generator<Match> {
  for (let from = 0; from <= text.length;) {
    const match = pattern.find(text, from, budget)
    if (match === undefined) return
    yield match
    const [begin = 0, end = 0] = match
    from = end === begin ? end + 1 : end
  }
}

const GROUP_NAME = /\{([A-Za-z][A-Za-z0-9]*)\}/y
const NO_NAMES: ReadonlyMap<string, number> = new Map()

export function replacementOf(replacement: string, match: Match, text: string, names = NO_NAMES): string {
  let made = ''
  for (let i = 0; i < replacement.length; i++) {
    const char = replacement.charAt(i)
    if (char === '\\') {
      if (++i >= replacement.length) throw failed('character to be escaped is missing')
      made += replacement.charAt(i)
    } else if (char === '$') {
      const found = namedAt(replacement, i + 1, names) ?? numberedAt(replacement, i + 1, match.length / 2)
      const [begin = -1, end = -1] = match.slice(2 * found.group)
      made += begin < 0 ? '' : text.slice(begin, end)
      i = found.end - 1
    } else made += char
  }
  return made
}

interface FoundGroup {
  readonly group: number
  readonly end: number
}

function namedAt(text: string, at: number, names: ReadonlyMap<string, number>): FoundGroup | undefined {
  GROUP_NAME.lastIndex = at
  const name = GROUP_NAME.exec(text)?.[1]
  if (name === undefined) return undefined
  const group = names.get(name)
  if (group === undefined) throw failed(`No group with name {${name}}`)
  return { group, end: GROUP_NAME.lastIndex }
}

/** Uses as many digits as still form the number of an existing group. */
function numberedAt(text: string, at: number, groups: number): FoundGroup {
  let group = digitAt(text, at)
  if (group === undefined || group >= groups) throw failed('Illegal group reference')
  let end = at + 1
  for (let next = digitAt(text, end); next !== undefined && group * 10 + next < groups; next = digitAt(text, ++end)) {
    group = group * 10 + next
  }
  return { group, end }
}

function digitAt(text: string, i: number): number | undefined {
  const char = text.charAt(i)
  return char >= '0' && char <= '9' ? Number(char) : undefined
}
