/** Formats errors of the rules service as `{ statusCode, error, code?, details? }`. */
import { type AppError, type Issue, issuesText } from '#kernel'
import type { Refusal } from '#services/shared'
import { DUPLICATE_TEMPLATE, NAME_MISMATCH } from './error-texts.ts'
import type { ErrorBody, WireIssue } from './shared-schema.ts'

export function rulesErrorBody({ statusCode, error, code, issues }: Refusal): ErrorBody {
  if (issues.length === 0) return { statusCode, error, code }
  const first = issues.find(({ severity }) => severity === 'ERROR') ?? issues[0]
  if (first !== undefined && OF_STORAGE.has(first.type)) {
    // the paths are indexes into the commit, which are meaningless to clients
    const shown = issues.map((issue) => ({ ...issue, path: '' }))
    const text = `the sent data can neither be stored nor searched: ${issuesText(shown)}`
    return { statusCode, error: text, code, details: shown.map(wireIssue) }
  }
  const { text, name } =
    code === 'VALIDATION' ? headline(first, error, issues) : { text: code === 'SCHEDULE' ? issuesText(issues) : error }
  return { statusCode, error: text, code: name ?? code, details: issues.map(wireIssue) }
}

const OF_STORAGE: ReadonlySet<string> = new Set(['STORAGE', 'SIZE'])

export function refusalText(error: AppError): string {
  const { status: statusCode, message, code, issues } = error
  return rulesErrorBody({ statusCode, error: message, code, issues }).error
}

export function wireIssue(issue: Issue): WireIssue {
  const { type, message, severity, path, details, suggestion, fix } = issue
  return {
    type: type === 'PLUG' ? 'PLUGIN' : type,
    message,
    severity,
    ...(path !== '' && { path }),
    ...(details !== undefined && { details }),
    ...(suggestion !== undefined && { suggestion }),
    ...(fix !== undefined && { fix }),
  }
}

function headline(
  first: Issue | undefined,
  error: string,
  issues: readonly Issue[],
): { readonly text: string; readonly name?: string } {
  switch (first?.type) {
    case 'PLUG': {
      const plugin = pluginOf(first)
      return plugin === undefined ? { text: error } : { text: `Plugin ${plugin} not found`, name: 'TRANSFORMATION' }
    }
    case 'VARIABLE':
      return first.message.startsWith('Variable ') ? { text: first.message } : { text: issuesText(issues) }
    case 'BINDING':
      return { text: `Binding error at ${issuesText([first])}` }
    case DUPLICATE_TEMPLATE:
      return { text: first.message, name: 'ERR_DUPLICATE_TEMPLATE_NAME' }
    case NAME_MISMATCH:
    case 'TEMPLATE':
      return { text: first.message }
    default:
      return { text: issuesText(issues) }
  }
}

function pluginOf({ details }: Issue): string | undefined {
  const plugin: unknown = details?.['plugin']
  if (typeof plugin !== 'object' || plugin === null) return undefined
  const { name, version }: { name?: unknown; version?: unknown } = plugin
  return `${String(name)}:${String(version)}`
}
