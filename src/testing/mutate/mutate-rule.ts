/** How much a test of a rule notices: each mutant of the rule is checked, and should fail. */
import type { Rule, Template } from '../../core/rule/rule.ts'
import { AppError, messageOf } from '../../kernel/errors.ts'
import { caseOptionsOf, type CheckOptions } from '../check-options.ts'
import { checkRule } from '../check-rule.ts'
import type { PropertyLike } from '../property.ts'
import { mutantsOf } from './mutants.ts'

export interface MutateOptions extends CheckOptions {
  /** told of each mutant when it is decided */
  readonly onProgress?: (done: {
    readonly name: string
    readonly killed: boolean
    readonly done: number
    readonly of: number
  }) => void
}

export interface Mutation {
  readonly killed: readonly { readonly name: string; readonly by: string }[]
  /** what no property noticed: the test is too weak there, or the change does not matter */
  readonly survived: readonly string[]
  toString(): string
}

/**
 * Checks every mutant of a rule by the same properties. Throws `PROPERTY` when the rule itself does not hold, and
 * `VALIDATION` when it cannot be changed in any way.
 */
export async function mutateRule(
  rule: Rule | Template,
  property: PropertyLike | readonly PropertyLike[],
  { onProgress, ...options }: MutateOptions,
): Promise<Mutation> {
  await checkRule(rule, property, options)
  const mutants = mutantsOf(rule, caseOptionsOf(options).preparer().plugs)
  if (mutants.length === 0) throw new AppError('VALIDATION', 'the rule has nothing that could be changed')
  const killed: { name: string; by: string }[] = []
  const survived: string[] = []
  for (const [i, { name, rule: mutant }] of mutants.entries()) {
    const by = await whyFailed(mutant, property, options)
    if (by === undefined) survived.push(name)
    else killed.push({ name, by })
    onProgress?.({ name, killed: by !== undefined, done: i + 1, of: mutants.length })
  }
  return { killed, survived, toString: () => textOf(killed.length, survived) }
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

function textOf(killed: number, survived: readonly string[]): string {
  const head = `killed ${killed} of ${killed + survived.length} mutants`
  return [head, ...survived.map((name) => `  survived: ${name}`)].join('\n')
}
