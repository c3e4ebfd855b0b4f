/** Reads and checks rule and template files. */
import { type PlugRegistry, type Rule, type Template, validateRule, validateTemplate } from '#core'
import { type CheckOptions, isTemplateDocument } from '#core/spi'
import { AppError, describeIssue, type Issue } from '#kernel'
import { excerptOf, findJsonProblem } from '#formats/recording'
import { counted } from './numbers.ts'
import { textAt } from './recording/source.ts'
import { visible } from './visible.ts'

export interface RuleFile {
  file: string
  rule: Rule | Template | undefined
  issues: readonly Issue[]
  /** For text that is not JSON: the position, and the line with a caret */
  broken?: { line: number; column: number; excerpt: string }
}

/** Reads and checks a rule or template file; `-` means standard input. An unreadable file is reported as an issue. */
export async function readRuleFile(path: string, plugs: PlugRegistry, options: CheckOptions = {}): Promise<RuleFile> {
  const file = path === '-' ? 'stdin' : path
  let text: string
  try {
    text = await textAt(path)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const message = error.message.replace(`${file}: `, '')
    return { file, rule: undefined, issues: [{ path: '', message, severity: 'ERROR', type: error.code }] }
  }
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return notJson(file, text)
  }
  if (isTemplateDocument(document)) {
    const { template, issues } = validateTemplate(document, plugs, options)
    return { file, rule: template, issues }
  }
  return { file, ...validateRule(document, plugs, options) }
}

const SEVERITIES: readonly Issue['severity'][] = ['ERROR', 'WARNING', 'INFO']

/** Formats one line per issue, errors first: `ERROR   rule.json: /path: what is wrong; what would be right`. */
export function issueLines({ file, issues, broken }: RuleFile): string[] {
  if (broken !== undefined) {
    const [issue] = issues
    const hint = issue?.suggestion === undefined ? '' : `; ${issue.suggestion}`
    return [`ERROR   ${file}:${broken.line}:${broken.column}: ${issue?.message}${hint}`, broken.excerpt]
  }
  return issues
    .toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
    .map((issue) => {
      const unread = issue.path === '' && issue.type === 'NOT_FOUND'
      return visible(`${issue.severity.padEnd(8)}${file}: ${unread ? issue.message : describeIssue(issue)}`)
    })
}

/** Formats `rule.json: 2 errors, 1 warning`, or a summary of the file if it has no issues. */
export function verdict({ file, rule, issues }: RuleFile): string {
  const count = (severity: Issue['severity']): number => issues.filter((issue) => issue.severity === severity).length
  const [errors, warnings, notes] = [count('ERROR'), count('WARNING'), count('INFO')]
  const lines = [
    warnings > 0 ? `, ${counted(warnings, 'warning')}` : '',
    notes > 0 ? `, ${counted(notes, 'note')}` : '',
  ].join('')
  if (errors > 0 || rule === undefined) return `${file}: ${counted(errors, 'error')}${lines}`
  const { sensors = [], relations = [], triggers = [], actuators = [] } = rule
  const parts = [
    counted(sensors.length, 'sensor'),
    counted(relations.length, 'relation'),
    counted(triggers.length, 'trigger'),
    counted(actuators.length, 'actuator'),
  ]
  return `${file}: ok${lines} (${parts.join(', ')})`
}

function notJson(file: string, text: string): RuleFile {
  const problem = findJsonProblem(text)
  if (problem === undefined) throw new AppError('NOT_JSON', `${file}: invalid JSON`)
  const { line, column, message, suggestion } = problem
  const issue: Issue = { path: '', message, severity: 'ERROR', type: 'NOT_JSON', details: { line, column } }
  if (suggestion !== undefined) issue.suggestion = suggestion
  return { file, rule: undefined, issues: [issue], broken: { line, column, excerpt: excerptOf(problem) } }
}
