/** Reads what a model is uploaded with: names, the framework, and the zip itself, or the server that has it. */
import { Issues, shown } from '#kernel'
import { FRAMEWORKS, type Framework, type ModelUpload, type RemoteUpload } from './contract.ts'
import { digestOf } from './read-files.ts'
import { readRemote, type RemoteReading, type SealedRemote } from './remote/read-remote.ts'
import { readZip } from './read-zip.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/
const MAX_DESCRIPTION = 10_000

/** As people write them. */
const ALIASES: ReadonlyMap<string, Framework> = new Map([
  ...FRAMEWORKS.map((one) => [one, one] as const),
  ['scikit-learn', 'sklearn'],
  ['scikitlearn', 'sklearn'],
  ['torch', 'pytorch'],
  ['torchscript', 'pytorch'],
  ['tf', 'tensorflow'],
])

export interface ReadUpload {
  readonly name: string
  readonly framework: Framework
  readonly description: string
  readonly digest: string
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** `VALIDATION` lists all that is wrong with the fields, then with the zip; `TOO_LARGE`. */
export async function readUpload({ name, framework, description = '', file }: ModelUpload): Promise<ReadUpload> {
  const issues = new Issues('UPLOAD', 20)
  checkName(name, issues)
  const known = frameworkOf(framework)
  if (known === undefined) issues.wrong('/framework', `is ${shown(framework)}`, `write one of ${FRAMEWORKS.join(', ')}`)
  checkDescription(description, '/description', issues)
  if (file.length === 0) issues.wrong('/file', 'is missing', 'send the model as a zip')
  issues.throwIfAny('The upload')
  // known: else it was thrown
  const chosen = known ?? 'sklearn'
  const files = await readZip(chosen, file)
  return { name, framework: chosen, description, digest: digestOf(chosen, files), files }
}

export interface ReadRemoteUpload {
  readonly name: string
  readonly framework: Framework
  readonly description: string
  readonly remote: SealedRemote
}

/** `VALIDATION` lists all that is wrong. `seal`: seals a header, or keeps one that was shown sealed. */
export function readRemoteUpload(
  { name, framework = 'custom', description = '', remote }: RemoteUpload,
  seal: RemoteReading['seal'],
): ReadRemoteUpload {
  const issues = new Issues('UPLOAD', 20)
  checkName(name, issues)
  const known = frameworkOf(framework)
  if (known === undefined) {
    issues.wrong('/framework', `is ${shown(framework)}`, `write one of ${FRAMEWORKS.join(', ')}`)
  }
  checkDescription(description, '/description', issues)
  const read = readRemote(remote, { name, seal, issues })
  issues.throwIfAny('The upload')
  return { name, framework: known ?? 'custom', description, remote: read }
}

function checkName(name: string, issues: Issues): void {
  if (NAME.test(name)) return
  issues.wrong('/name', `is ${shown(name)}`, 'write 1 to 100 letters, digits and . _ -, a letter or digit first')
}

export function checkDescription(text: string, path: string, issues: Issues): void {
  if (text.length <= MAX_DESCRIPTION) return
  issues.wrong(path, `has ${text.length} characters`, `write at most ${MAX_DESCRIPTION}`)
}

/** Undefined for a text that names none. */
export function frameworkOf(text: string): Framework | undefined {
  return ALIASES.get(text.trim().toLowerCase())
}
