/** Builds the form for uploading a model. */
import { zipOf } from '../services/models/zip.ts'

/** Returns body and headers of the request: text as given, a file as `model.zip`. */
export async function modelForm(parts: Readonly<Record<string, string | Uint8Array>>) {
  const form = new FormData()
  for (const [name, value] of Object.entries(parts)) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([new Uint8Array(value)], { type: 'application/zip' }), 'model.zip')
  }
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  return { payload: Buffer.from(await sent.arrayBuffer()), headers }
}

/** Builds the form for an XGBoost booster. `booster`: the text of its file. */
export const boosterForm = (name: string, booster: string) =>
  modelForm({ name, framework: 'xgboost', file: zipOf({ 'model.bst': booster }) })
