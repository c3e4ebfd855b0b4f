/** Performs mutation testing: checks each mutant of a rule, which should fail. */
import type { EngineEvent, Rule, Template } from '#core'
import { AppError, messageOf } from '#kernel'
import { caseOptionsOf, type CheckOptions } from '../check-options.ts'
import { checkRule, PropertyError } from '../check-rule.ts'
import type { PropertyLike, RuleProperty } from '../property.ts'
import { mutantsOf, type Mutant } from './mutants.ts'

export interface MutateOptions extends CheckOptions {
  readonly onProgress?: (done: {
    readonly name: string
    readonly killed: boolean
    readonly done: number
    readonly of: number
  }) => void
}

export interface Mutation {
  readonly killed: readonly { readonly name: string; readonly by: string }[]
  /** mutants that behave differently without failing a property: the test is too weak there */
  readonly survived: readonly string[]
  /** mutants that behave like the rule in all cases: the change has no effect, or the messages never reach it */
  readonly alike: readonly string[]
  toString(): string
}

/**
 * Checks every mutant of a rule with the same properties. Throws `PROPERTY` if the rule itself fails, and `VALIDATION`
 * if it has no mutants.
 */
export async function mutateRule(
  rule: Rule | Template,
  property: PropertyLike | readonly PropertyLike[],
  { onProgress, ...options }: MutateOptions,
): Promise<Mutation> {
  await checkRule(rule, property, options)
  const mutants = mutantsOf(rule, caseOptionsOf(options).preparer().plugs)
  if (mutants.length === 0) throw new AppError('VALIDATION', 'the rule has nothing to mutate')
  const killed: { name: string; by: string }[] = []
  const survived: string[] = []
  const alike: string[] = []
  for (const [i, mutant] of mutants.entries()) {
    const { name } = mutant
    const by = await whyFailed(mutant.rule, property, options)
    if (by !== undefined) killed.push({ name, by })
    else if (await behavesAlike(mutant, rule, options)) alike.push(name)
    else survived.push(name)
    onProgress?.({ name, killed: by !== undefined, done: i + 1, of: mutants.length })
  }
  return { killed, survived, alike, toString: () => textOf(killed.length, survived, alike) }
}

async function whyFailed(
  mutant: Rule | Template,
  property: PropertyLike | readonly PropertyLike[],
  { writeTo: _writeTo, print: _print, ...options }: CheckOptions,
): Promise<string | undefined> {
  try {
    await checkRule(mutant, property, { ...options, shrink: false })
    return undefined
  } catch (error) {
    return messageOf(error).split('\n')[0] ?? 'it failed'
  }
}

/**
 * Returns whether a mutant behaves like the rule. Changes of actuators never count as equal, because their input may
 * matter to an external service.
 */
async function behavesAlike({ name, rule: mutant }: Mutant, rule: Rule | Template, options: CheckOptions) {
  if (name.startsWith('actuators/')) return false
  const { writeTo: _writeTo, print: _print, ...rest } = options
  try {
    const loose = { cover: false, allowErrors: true, columnar: false, shrink: false } as const
    await checkRule(mutant, actsAs(rule), { ...rest, ...loose })
    return true
  } catch (error) {
    if (error instanceof PropertyError) return false
    throw error
  }
}

/** Requires equal firings, and equal results and logs of actuators. */
function actsAs(rule: Rule | Template): RuleProperty {
  const actuators = new Set((rule.actuators ?? []).map(({ label }) => label))
  const actsOf = (events: readonly EngineEvent[]): readonly string[] =>
    events.flatMap(({ time, type, node = '', ...event }) => {
      if (type === 'fired') return [JSON.stringify([time, node])]
      if (!actuators.has(node) || (type !== 'result' && type !== 'log')) return []
      const { invocation: _invocation, at: _at, ...fields } = event
      return [JSON.stringify([time, node, fields])]
    })
  return {
    name: 'the mutant acts as the rule',
    rules: [rule],
    check: async (run) =>
      actsOf(run.events).join('\n') === actsOf((await run.again({ rule })).events).join('\n') ||
      'the mutant acts differently',
  }
}

function textOf(killed: number, survived: readonly string[], alike: readonly string[]): string {
  return [
    `killed ${killed} of ${killed + survived.length + alike.length} mutants`,
    ...survived.map((name) => `  survived: ${name}`),
    ...alike.map((name) => `  acts as the rule in all cases: ${name}`),
  ].join('\n')
}
