/**
 * Stores drafts of templates for assistants.
 *
 * DRAFT-1 a draft is stored only after its check without errors and its rehearsal with messages, of the same document
 */
import { AppError } from '#kernel'
import type { Rehearsal, RehearsalRequest, TemplateEntity, TemplateSpecification } from '#services/rules/contract'
import { coverageFirst, rehearsed } from './rehearsal.ts'
import type { ToolContext } from './tool.ts'

export interface Proposal {
  readonly template: TemplateSpecification
  readonly note: string
  readonly source: RehearsalRequest['source']
  readonly resources?: RehearsalRequest['resources']
  readonly variables?: RehearsalRequest['variables']
}

/** Throws `VALIDATION` with the problems of the check, or if no resource had messages. Publishes nothing. */
export async function proposeDraft(proposal: Proposal, context: ToolContext): Promise<object> {
  const { template, note, source, resources, variables } = proposal
  const { tools, templates } = context.client.rules
  const { valid, issues } = await tools.check({ rule: template as unknown as Record<string, unknown>, strict: true })
  if (!valid) {
    const errors = issues
      .filter(({ severity }) => severity === 'ERROR')
      .map(({ path = '', ...issue }) => ({ ...issue, path }))
    throw new AppError('VALIDATION', 'the template has errors; nothing was stored', {
      issues: errors,
    })
  }
  const stored = await storedTemplate(context, template.name)
  const published = stored === undefined || stored.draft === true ? undefined : stored.version
  const rehearsal = await rehearsed(context, {
    rule: template,
    source,
    ...(resources && { resources }),
    ...(variables && { variables }),
    ...(published !== undefined && { compareWith: { template: template.name } }),
  })
  if (rehearsal.status === 'empty') throw withoutMessages(rehearsal)
  const options = { draft: true, note, strict: true }
  const draft =
    stored === undefined
      ? (await templates.create(template, options)).entity
      : await templates.replace(template.name, template, options)
  return {
    draft: { template: draft.name, version: draft.version, note },
    published: published ?? null,
    issues,
    rehearsal: coverageFirst(rehearsal),
    next: 'The draft runs only in rehearsals. The tool publish makes it live, with the scope publish.',
  }
}

/** Returns undefined if there is none. */
async function storedTemplate({ client }: ToolContext, name: string): Promise<TemplateEntity | undefined> {
  try {
    return await client.rules.templates.get(name)
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

function withoutMessages({ coverage }: Rehearsal): AppError {
  const { summary = 'no resource had data', missingMetrics = [] } = coverage ?? {}
  const missing = missingMetrics.length === 0 ? '' : `; no resource has ${missingMetrics.join(', ')}`
  return new AppError(
    'VALIDATION',
    `the rehearsal had no messages (${summary}${missing}), so nothing was stored; choose other resources, a longer source, or send messages`,
  )
}
