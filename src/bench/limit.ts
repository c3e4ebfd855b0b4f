/** Builds an executable limit of tasks: the generated loop over their rules. */
import type { Generate } from '#core/spi'
import type { Message } from '#core'
import { limitSource, type LimitRule, type LimitSource, type NoLimit } from './limit-source.ts'
import { MessageFacts } from './message-facts.ts'

export interface LimitTask {
  readonly resource: string
  readonly rule: LimitRule
}

export interface LimitCalls {
  act(task: number, slot: number): void
  /** returns epoch ms; called only where a cool-down may end */
  now(): number
}

export type TakeMessage = (message: Message) => void

export interface Limit {
  /** `loop`: one rule after the other; `sorted`: sorted by limit, with early exit */
  readonly name: 'loop' | 'sorted'
  readonly source: string
  open(calls: LimitCalls): TakeMessage
}

/** Always a loop, and where each rule tests one value, also one with early exit. Valid only for `messages`. */
export function limitsOf(
  tasks: readonly LimitTask[],
  messages: readonly Message[],
  generate: Generate,
): readonly Limit[] | NoLimit {
  const facts = new MessageFacts(messages)
  const known = new Map<LimitRule['properties'], LimitSource | NoLimit>()
  const sources: LimitSource[] = []
  for (const { rule } of tasks) {
    const source = known.get(rule.properties) ?? limitSource(rule, facts)
    known.set(rule.properties, source)
    if ('reason' in source) return source
    sources.push(source)
  }
  const [first] = sources
  if (first === undefined) return { reason: 'the list of tasks is empty' }
  if (sources.some(({ follow, read }) => follow !== first.follow || read !== first.read)) {
    return { reason: 'the rules differ in more than numbers' }
  }
  const single = new Set(tasks.map(({ resource }) => resource)).size === tasks.length
  const writer = new LoopWriter(tasks, sources, first, generate)
  const sorted = single ? undefined : writer.sorted()
  return [writer.loop(single), ...(sorted === undefined ? [] : [sorted])]
}

type RuleRecord = { task: number } & Record<string, number>

class LoopWriter {
  readonly #tasks: readonly LimitTask[]
  readonly #sources: readonly LimitSource[]
  readonly #first: LimitSource
  readonly #generate: Generate
  readonly #common: ReadonlyMap<number, number>

  constructor(tasks: readonly LimitTask[], sources: readonly LimitSource[], first: LimitSource, generate: Generate) {
    this.#tasks = tasks
    this.#sources = sources
    this.#first = first
    this.#generate = generate
    this.#common = new Map(
      [...first.constants.entries()].filter(([i, value]) => sources.every(({ constants }) => constants[i] === value)),
    )
  }

  loop(single: boolean): Limit {
    const { read, follow } = this.#first
    const rules = this.#withNumbers(follow)
    const source = [
      'return (message) => {',
      'const at = resources.get(message.resource)',
      'if (at === undefined) return',
      read,
      ...(single ? ['const own = at', rules] : ['for (const own of at.rules) {', rules, '}']),
      '}',
    ].join('\n')
    return {
      name: 'loop',
      source,
      open: ({ act, now }) => {
        const resources = new Map<string, Record<string, unknown>>()
        for (const [task, { resource }] of this.#tasks.entries()) {
          const own = this.#recordOf(task)
          if (single) {
            resources.set(resource, { ...this.#kept(), ...own })
            continue
          }
          const at = resources.get(resource) ?? { ...this.#kept(), rules: [] }
          ;(at['rules'] as RuleRecord[]).push(own)
          resources.set(resource, at)
        }
        const fire = (own: RuleRecord, slot: number): void => act(own.task, slot)
        return this.#made(source, { resources, act: fire, now })
      },
    }
  }

  /** By the limit of their first comparison, so that the first failing rule ends the search. */
  sorted(): Limit | undefined {
    const { conjunction, read } = this.#first
    const [first = '', ...rest] = conjunction ?? []
    const [, value, field] = /^(v\d+) > own\.c(\d+)$/.exec(first) ?? []
    if (conjunction === undefined || value === undefined) return undefined
    const slot = /act\(own, (\d+)\)/.exec(this.#first.follow)?.[1] ?? '0'
    const inArrays = (text: string) => text.replaceAll(/own\.c(\d+)/g, (_, i: string) => `at.c${i}[i]`)
    const source = [
      'return (message) => {',
      'const at = resources.get(message.resource)',
      'if (at === undefined) return',
      read,
      `const sorted = at.c${field}`,
      `for (let i = 0; i < sorted.length && ${value} > sorted[i]; i++) {`,
      `if (${rest.map(inArrays).join(' && ') || 'true'}) act(at.task[i], ${slot})`,
      '}',
      '}',
    ].join('\n')
    return {
      name: 'sorted',
      source,
      open: ({ act, now }) => {
        const resources = new Map<string, Record<string, unknown>>()
        const names = [...new Set(this.#tasks.map(({ resource }) => resource))]
        for (const name of names) {
          const places = this.#tasks.flatMap(({ resource }, i) => (resource === name ? [i] : []))
          const by = (i: number) => this.#sources[i]?.constants[Number(field)] ?? 0
          places.sort((a, b) => by(a) - by(b))
          const columns = this.#first.constants.map((_, c) => {
            return [`c${c}`, Float64Array.from(places, (i) => this.#sources[i]?.constants[c] ?? 0)] as const
          })
          resources.set(name, { ...this.#kept(), ...Object.fromEntries(columns), task: Int32Array.from(places) })
        }
        return this.#made(source, { resources, act, now })
      },
    }
  }

  #made(source: string, captured: Readonly<Record<string, unknown>>): TakeMessage {
    const outer = this.#generate(Object.keys(captured), source) as unknown as (...args: unknown[]) => TakeMessage
    return outer(...Object.values(captured))
  }

  #withNumbers(source: string): string {
    return source.replaceAll(/own\.c(\d+)/g, (field, i: string) => {
      const value = this.#common.get(Number(i))
      return value === undefined ? field : String(value)
    })
  }

  #kept(): Record<string, unknown> {
    return Object.fromEntries(this.#first.kept.map((name) => [name, undefined]))
  }

  #recordOf(task: number): RuleRecord {
    const numbers = (this.#sources[task]?.constants ?? []).map((value, i) => [`c${i}`, value] as const)
    return { task, ...Object.fromEntries([...numbers, ...this.#first.memory]) }
  }
}
