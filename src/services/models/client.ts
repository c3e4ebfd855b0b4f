/** Typed client of hosted models over fetch, with the same contract. */
import { type Ask, type Http, pathOf, typed } from '#services/shared/client'
import type { ModelContent, ModelInfo, ModelsApi, ModelUpload, RemoteUpload } from './contract.ts'

export function modelsClient(http: Http): ModelsApi {
  const get = (name: string): Promise<ModelInfo> => typed(http.json('GET', pathOf`/models/${name}`))
  return {
    list: async (query = {}) => {
      const { available_models: models } = await typed<{ readonly available_models: readonly ModelInfo[] }>(
        http.json('GET', '/models', { query: { ...query } }),
      )
      return models
    },
    get,
    create: async (upload) => {
      await http.json('POST', '/models', await requestOf(upload))
      return get(upload.name)
    },
    replace: async (name, upload) => {
      await http.json('PUT', pathOf`/models/${name}`, await requestOf({ ...upload, name }))
      return get(name)
    },
    patch: (name, body) => typed(http.json('PATCH', pathOf`/models/${name}`, { body })),
    remove: async (name) => {
      const before = await get(name)
      await http.open('DELETE', pathOf`/models/${name}`)
      return before
    },
    content: async (name) => contentOf(await http.open('GET', pathOf`/models/${name}/content`)),
    examples: (name) => typed(http.json('GET', pathOf`/models/${name}/examples`)),
    predict: (name, body) => typed(http.json('POST', pathOf`/models/${name}/predict`, { body })),
    classify: (name, body) => typed(http.json('POST', pathOf`/models/${name}/classify`, { body })),
    regress: (name, body) => typed(http.json('POST', pathOf`/models/${name}/regress`, { body })),
    frameworks: async () => {
      const answer = await typed<{ readonly frameworks: Awaited<ReturnType<ModelsApi['frameworks']>> }>(
        http.json('GET', '/frameworks'),
      )
      return answer.frameworks
    },
  }
}

function requestOf(upload: ModelUpload | RemoteUpload): Promise<Ask> {
  return 'remote' in upload ? Promise.resolve({ body: upload }) : formOf(upload)
}

async function formOf({ name, framework, description, file }: ModelUpload): Promise<{
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}> {
  const form = new FormData()
  form.set('name', name)
  form.set('framework', framework)
  if (description !== undefined) form.set('description', description)
  form.set('file', new Blob([new Uint8Array(file)], { type: 'application/zip' }), 'model.zip')
  const request = new Response(form)
  return {
    body: new Uint8Array(await request.arrayBuffer()),
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
  }
}

function contentOf({ headers, body }: Response): ModelContent {
  return { size: Number(headers.get('content-length')), content: piecesOf(body) }
}

async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  try {
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) yield next.value
  } finally {
    await reader?.cancel()
  }
}
