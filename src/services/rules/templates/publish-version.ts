/** Makes a stored version of a template the one of which new tasks are made. */
import { AppError, type Caller, requireVersion, type RevisionOptions } from '#kernel'
import type { TenantRules } from '../tenant-rules.ts'
import { changingTemplate, readTemplate, type ReadTemplate, templateOf } from './read-template.ts'
import type { TemplateRecord } from './template-record.ts'
import { inVersion, markOf, nextNumber, removingStored, versionOf, writesForOldVersion } from './template-versions.ts'

export interface Published extends Pick<ReadTemplate, 'warned'> {
  readonly record: TemplateRecord
  readonly revision: number | undefined
}

/**
 * A draft takes the publisher's rights; a version that was published before keeps its author's. Throws
 * `NOT_FOUND`, `VALIDATION`, and with `isDraft` `WRONG_STATUS` for a version that is not a draft.
 */
export function publishVersion(
  rules: TenantRules,
  name: string,
  number: number,
  caller: Caller,
  { ifRevision, isDraft = false }: RevisionOptions & { readonly isDraft?: boolean } = {},
): Promise<Published> {
  const { collections, options } = rules
  return changingTemplate(rules, name, async () => {
    const stored = await templateOf(collections, name)
    requireVersion(`Template ${name}`, stored.version, ifRevision)
    const wanted = await inVersion(collections, stored.value, number)
    const mark = versionOf(wanted)
    if (isDraft && mark.draft !== true)
      throw new AppError('WRONG_STATUS', `version ${number} of template ${name} is not a draft`)
    if (mark.draft !== true && wanted === stored.value)
      return { record: stored.value, revision: stored.version, warned: {} }
    // plugs and constants may have changed since the version was checked
    const { document, plugs, warned } = await readTemplate(rules, wanted.document)
    const now = options.now()
    const version = mark.draft === true ? { ...markOf(number, caller, now, mark.note), user: mark.user } : mark
    const highest = nextNumber(stored.value) - 1
    const record: TemplateRecord = { ...stored.value, document, plugs, version, highest, lastUpdateTime: now }
    const { results } = await collections.commit([
      collections.templates.putting(name, record, stored.version),
      removingStored(collections, name, number),
      ...(await writesForOldVersion(collections, stored.value, record)),
    ])
    return { record, revision: results[0], warned }
  })
}
