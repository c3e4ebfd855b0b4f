/** Checks that instances with named features use the names of a model. */
import type { Issues } from '#kernel'

const MAX_SHOWN = 20

/** Adds issues for unknown and missing names. `right`: advice for missing names. */
export function checkNames(
  instance: Readonly<Record<string, unknown>>,
  path: string,
  names: ReadonlySet<string>,
  { issues, right }: { readonly issues: Issues; readonly right: string },
): void {
  for (const key of Object.keys(instance)) {
    if (!names.has(key)) issues.wrong(`${path}/${key}`, 'is not a feature of the model', `it has ${listed([...names])}`)
  }
  const lacking = [...names].filter((name) => !Object.hasOwn(instance, name))
  if (lacking.length > 0) issues.wrong(path, `has no ${listed(lacking)}`, right)
}

export function listed(names: readonly string[]): string {
  return `${names.slice(0, MAX_SHOWN).join(', ')}${names.length > MAX_SHOWN ? ' ...' : ''}`
}
