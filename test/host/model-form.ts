/** The form that a model is uploaded with. */
import { zipOf } from '../services/models/zip.ts'

/** Body and headers of the request: text as it is, a file as `model.zip`. */
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

/** The same of an XGBoost booster, the text of its file. */
export const boosterForm = (name: string, booster: string) =>
  modelForm({ name, framework: 'xgboost', file: zipOf({ 'model.bst': booster }) })
