/** `reflexarc convert TEMPLATE --payload FILE`: prints what a converter makes of a payload, or where the problem is. */
import type { DefineCommand } from './command.ts'
import { AppError, messageOf } from '#kernel'
import { parsePayload } from '#services/shared'
import { Conversions, readConverted } from '#services/converter/conversion'
import { previewOf } from '#services/converter'
import { excerptOf, findJsonProblem } from '#formats/recording'
import { textAt } from './recording/source.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Renders a Velocity template for a payload as the converter service does, and prints the resulting messages, or the\n' +
        'position of an error.',
    )
    .argument('<template>', 'file with the template; - is standard input')
    .requiredOption('--payload <file>', 'JSON of the device; - is standard input')
    .option('--text', 'print the rendered text unchanged')
    .option('--compat <version>', 'version of Apache Velocity to follow: 1.7 or 2.4', '1.7')
    .option('--topic <part...>', 'values of the topic wildcards, available as $topic')
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc convert fixtures/converters/senml-pack.vm --payload fixtures/converters/senml-pack.payload.json',
    )
    .action((template: string, flags: ConvertFlags) => start((terminal) => runConvert(template, flags, terminal)))
}

export interface ConvertFlags {
  payload: string
  text?: boolean
  compat: string
  topic?: readonly string[]
}

/** Returns 1 if the template is invalid, fails, or has no usable result. */
export async function runConvert(path: string, flags: ConvertFlags, terminal: Terminal): Promise<0 | 1> {
  const { compat, topic } = flags
  if (compat !== '1.7' && compat !== '2.4') throw new AppError('USAGE', `--compat ${compat}: write 1.7 or 2.4`)
  if (path === '-' && flags.payload === '-') throw new AppError('USAGE', 'only one of the files can be standard input')
  const template = await textAt(path)
  const payload = parsed(flags.payload, await textAt(flags.payload))
  const conversions = new Conversions(() => performance.now())
  let rendered: string | undefined
  try {
    rendered = conversions.render({ template, compat }, { payload, ...(topic && { topic }) })
    if (flags.text === true) {
      terminal.out(rendered)
      return 0
    }
    const { warnings, stored: _stored, ...converted } = previewOf(readConverted(rendered), [])
    terminal.out(`${JSON.stringify(converted, null, 2)}\n`)
    for (const warning of warnings) terminal.err(`${terminal.paint('yellow', 'WARNING')} ${warning}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    terminal.err(`${[`${path}: ${error.message}`, ...whereOf(error, rendered)].join('\n')}\n`)
    return 1
  }
}

function whereOf(error: AppError, rendered: string | undefined): readonly string[] {
  const { around } = error.issues[0]?.details ?? {}
  if (Array.isArray(around)) return around.map(String)
  const problem = rendered === undefined ? undefined : findJsonProblem(rendered)
  if (problem === undefined) return []
  const position = `line ${problem.line}, column ${problem.column}`
  return [`${position} of the rendered text: ${problem.message}`, excerptOf(problem), '--text prints the whole text']
}

function parsed(path: string, text: string): unknown {
  try {
    return parsePayload(text)
  } catch (error) {
    throw new AppError('NOT_JSON', `${path}: ${messageOf(error)}`)
  }
}
