/** Assets that came as parts of a form, each under its file name, or else the name of its part. */
import { AppError } from '#kernel'
import { formEntries } from '#services/shared'
import { type Assets, boundedAssets, pathProblem } from './archive.ts'

/** Bytes of a whole form: it is read at once, while archives are read in pieces. */
export const MAX_FORM = 5_242_880

export class UploadForm {
  readonly assets: Assets

  constructor(assets: Assets) {
    this.assets = assets
  }
}

/** `VALIDATION`, `TOO_LARGE` */
export async function readUploadForm(type: string, bytes: Uint8Array): Promise<UploadForm> {
  const assets = new Map<string, Uint8Array>()
  for (const [name, value] of await formEntries(type, bytes)) {
    const path = (typeof value === 'string' || value.name === '' ? name : value.name).replace(/^\.\//, '')
    const problem = pathProblem(path)
    if (problem !== undefined) throw new AppError('VALIDATION', `the form has "${path.slice(0, 80)}": ${problem}`)
    const content =
      typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(await value.arrayBuffer())
    assets.set(path, content)
  }
  if (assets.size === 0) throw new AppError('VALIDATION', 'the form has no files')
  return new UploadForm(boundedAssets(assets))
}
