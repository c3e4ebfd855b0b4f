/** The editor in words. */
import { countText } from './numbers.ts'

export interface EditorProblem {
  readonly path: string
  readonly message: string
  readonly suggestion?: string
  readonly severity: string
}

export function editorAnswer(problems: readonly EditorProblem[] | undefined, syntax: string | undefined): string {
  if (syntax !== undefined) return 'The text is not JSON yet'
  if (problems === undefined) return 'Checking the draft …'
  const errors = problems.filter(({ severity }) => severity === 'ERROR').length
  if (errors > 0) return `${countText(errors, 'problem')} ${errors === 1 ? 'stops' : 'stop'} this draft from running`
  return problems.length > 0
    ? `This draft can run, with ${countText(problems.length, 'warning')}`
    : 'This draft can run'
}

/** Returns how two changes of one rule go together. */
export function conflictAnswer(differences: number, conflicts: number): string {
  const count = countText(differences, 'difference')
  return conflicts === 0
    ? `Changed by two users: ${count}, none of them in conflict`
    : `Changed by two users: ${count}, ${conflicts === differences ? 'in conflict' : `${conflicts} in conflict`}`
}

export function problemText({ message, suggestion }: EditorProblem): string {
  const text = suggestion === undefined ? message : `${message}: ${suggestion}`
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** Returns the label of the node that a problem is about, by its path. */
export function nodeOf(path: string, rule: unknown): string | undefined {
  const [, list, index] = /^\/(sensors|relations|actuators|triggers)\/(\d+)/.exec(path) ?? []
  const node =
    list === undefined
      ? undefined
      : (rule as Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>)[list]?.[Number(index)]
  const label = node?.['label'] ?? node?.['destinationLabel']
  return typeof label === 'string' ? label : undefined
}

/** Names a correction: `Change to "False"`. */
export function fixText({
  op,
  value,
  path,
}: {
  readonly op: string
  readonly value?: unknown
  readonly path: string
}): string {
  if (op === 'replace') return `Change to ${JSON.stringify(value)}`
  if (op === 'add') return `Add ${path.split('/').at(-1)}: ${JSON.stringify(value)}`
  return op === 'remove' ? `Remove ${path.split('/').at(-1)}` : `Rename to ${path.split('/').at(-1)}`
}
