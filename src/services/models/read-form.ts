/** The form or body in which a model is uploaded. */
import { AppError, isPlainObject, Issues, shown } from '#kernel'
import { formEntries } from '#services/shared'
import type { ModelUpload, RemoteModel, RemoteUpload } from './contract.ts'
import { MAX_ZIP } from './read-zip.ts'

/** bytes of a form: the zip and some texts */
export const MAX_FORM = MAX_ZIP + 65_536

/** What later clients send too; nothing follows from it. */
const IGNORED: ReadonlySet<string> = new Set(['framework_version', 'metadata'])

/** The parts of a form as a body: texts, and the zip. */
export class ModelForm {
  readonly texts: ReadonlyMap<string, string>
  readonly file: Uint8Array

  constructor(texts: ReadonlyMap<string, string>, file: Uint8Array) {
    this.texts = texts
    this.file = file
  }
}

/** `VALIDATION` lists the parts that are unknown or there twice. */
export async function readModelForm(type: string, bytes: Uint8Array): Promise<ModelForm> {
  const issues = new Issues('FORM', 20)
  const texts = new Map<string, string>()
  let file: Uint8Array | undefined
  for (const [name, value] of await formEntries(type, bytes)) {
    const shown = `/${name.slice(0, 80)}`
    if (name === 'file') {
      if (file !== undefined) issues.wrong(shown, 'is there twice')
      file = typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(await value.arrayBuffer())
    } else if (!PARTS.has(name) && !IGNORED.has(name)) {
      issues.wrong(shown, 'is unknown', `send ${[...PARTS].join(', ')} and file`)
    } else if (texts.has(name)) issues.wrong(shown, 'is there twice')
    else texts.set(name, typeof value === 'string' ? value : await value.text())
  }
  issues.throwIfAny('The form')
  return new ModelForm(texts, file ?? new Uint8Array())
}

const PARTS: ReadonlySet<string> = new Set(['name', 'framework', 'description'])

/** The upload of a body. `name`: that of the path, which the form need not repeat. */
export function uploadOf(body: unknown, name?: string): ModelUpload | RemoteUpload {
  if (!(body instanceof ModelForm)) return remoteUploadOf(body, name)
  const { texts, file } = body
  const description = texts.get('description')
  return {
    name: name ?? texts.get('name') ?? '',
    framework: texts.get('framework') ?? '',
    ...(description !== undefined && { description }),
    file,
  }
}

const KEYS = ['name', 'framework', 'description', 'remote'] as const

/** Of JSON: a model that another server has. What `remote` says is read with the rest. */
function remoteUploadOf(body: unknown, given?: string): RemoteUpload {
  if (!isPlainObject(body) || body['remote'] === undefined) {
    throw new AppError(
      'VALIDATION',
      'there is neither a form nor a server: send multipart/form-data with file, framework and name, or JSON with remote and name',
    )
  }
  const issues = new Issues('UPLOAD', 20)
  for (const key of Object.keys(body)) {
    if (!KEYS.some((one) => one === key)) issues.wrong(`/${key.slice(0, 80)}`, 'is unknown', `send ${KEYS.join(', ')}`)
  }
  const textOf = (key: 'name' | 'framework' | 'description'): string | undefined => {
    const { [key]: value } = body
    if (value === undefined || typeof value === 'string') return value
    return issues.wrong(`/${key}`, `is ${shown(value)}`, 'send a text')
  }
  const [name = '', framework, description] = [textOf('name'), textOf('framework'), textOf('description')]
  issues.throwIfAny('The upload')
  return {
    name: given ?? name,
    ...(framework !== undefined && { framework }),
    ...(description !== undefined && { description }),
    remote: body['remote'] as RemoteModel,
  }
}
