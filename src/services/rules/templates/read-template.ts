/** Reads, checks and finds templates, and changes them one at a time. */
import { isAddressable, NOT_ADDRESSABLE } from '#services/shared'
import type { Template } from '#core'
import { AppError, makeIssue, refuse, shown, validationError } from '#kernel'
import type { Stored } from '#storage'
import type { RulesCollections } from '../collections.ts'
import { plugsOf } from '../tasks/plug-versions.ts'
import type { TenantRules } from '../tenant-rules.ts'
import { type PostOptions, warningsOf } from './post-checks.ts'
import type { TemplateRecord } from './template-record.ts'
import { MAX_TEMPLATE_NAME, type TemplateEntity } from './template-schema.ts'

export interface ReadTemplate {
  readonly document: Template
  readonly plugs: readonly string[]
  readonly isProtected: boolean | undefined
  readonly warned: Pick<TemplateEntity, 'warnings'>
}

/** Throws `VALIDATION` with all problems. */
export async function readTemplate(
  { direct, maker }: TenantRules,
  specification: unknown,
  options: PostOptions = {},
): Promise<ReadTemplate> {
  const { template, issues } = await direct.check(specification, options)
  if (template === undefined) throw validationError('the template', issues)
  checkName(template.name)
  const { protected: isProtected, ...document } = template as Template & { protected?: unknown }
  if (isProtected !== undefined && typeof isProtected !== 'boolean')
    throw refuse('the template', [makeIssue('TYPE', '/protected', `${shown(isProtected)} is not true or false`)])
  return {
    document,
    plugs: plugsOf(document, maker.plugs),
    isProtected,
    warned: warningsOf('the template', issues, options),
  }
}

/** Runs a change of a template after earlier ones, and notifies who follows templates. */
export async function changingTemplate<T>(rules: TenantRules, name: string, work: () => Promise<T>): Promise<T> {
  const result = await rules.templateLanes.run(name, work)
  rules.options.templateWritten?.(name)
  return result
}

export async function templateOf(collections: RulesCollections, name: string): Promise<Stored<TemplateRecord>> {
  const stored = await collections.templates.get(name)
  if (stored === undefined) throw new AppError('NOT_FOUND', `No template with name ${name}`)
  return stored
}

export function checkName(name: string): void {
  if (!isAddressable(name)) throw refuse('the template', [makeIssue('NAME', '/name', `"${name}" ${NOT_ADDRESSABLE}`)])
  if (name.length <= MAX_TEMPLATE_NAME) return
  const message = `the name has ${name.length} characters, more than ${MAX_TEMPLATE_NAME}`
  throw refuse('the template', [makeIssue('TOO_LARGE', '/name', message)])
}
