/** Requires that who stores a task may use the secrets of the vault that its rule reads. */
import type { TaskSettings } from '#core'
import type { Prepared } from '#core/spi'
import { AppError, hasScope, type Rights } from '#kernel'

interface Parts {
  /** of a stored template */
  readonly source: { readonly document: unknown } | undefined
  readonly settings: TaskSettings
}

/**
 * `rights`: of who stores the task; absent: all rights. A template was published with the right to use its secrets, so
 * that only the nodes that the task changes count. Throws `FORBIDDEN`.
 */
export function requireSecretRights({ graph }: Prepared, parts: Parts, rights: Rights | undefined): void {
  if (rights === undefined || hasScope(rights, 'publish')) return
  const readers = [...graph.sensors, ...graph.actuators].filter(({ call }) => (call.needs?.secrets.length ?? 0) > 0)
  if (readers.length === 0) return
  const { source, settings } = parts
  const published = source === undefined ? '' : JSON.stringify(source.document)
  const changed = new Set(
    settings.nodes?.flatMap(({ name, properties: { actions = [] } }) => [name, ...actions.map(({ label }) => label)]),
  )
  const isPublished = (label: string, secrets: readonly string[]): boolean =>
    source !== undefined &&
    !changed.has(label) &&
    !changed.has(undefined) &&
    secrets.every((name) => published.includes(`vault.${name}`))
  const own = readers.filter(({ label, call }) => !isPublished(label, call.needs?.secrets ?? []))
  if (own.length === 0) return
  const labels = own.map(({ label }) => label).join(', ')
  throw new AppError(
    'FORBIDDEN',
    `The rule reads secrets of the vault in ${labels}, which needs the scope publish; these credentials have ${rights.scopes.join(', ')}. Store it with a key that has publish, or start a published template that reads them`,
  )
}
