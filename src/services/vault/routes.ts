/** Secrets over HTTP: given and taken away, and never told. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError, isPlainObject } from '#kernel'
import { asking, describing, ownScope, QueryReader, Text } from '#services/shared'
import type { VaultApi, VaultService } from './contract.ts'

const PATH = '/vault/v1/secrets'
const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'VaultError' },
)
const SecretSchema = Type.Object(
  { name: Text, createdBy: Text, createdAt: Text, updatedBy: Text, updatedAt: Text },
  { title: 'Secret' },
)
const SecretsSchema = Type.Object({ secrets: Type.Array(SecretSchema) }, { title: 'Secrets' })
const ValueSchema = Type.Object(
  { value: Type.String({ description: 'sealed at once; nobody is told it again' }) },
  { title: 'SecretValue' },
)

const described = describing('vault', ErrorSchema)
const ask = asking<VaultApi, QueryReader>((query) => new QueryReader(query))

/** Adds every route of the service, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function vaultRoutes(app: FastifyInstance, { service }: { service: VaultService }): Promise<void> {
  await ownScope(app, (own) => {
    own.get(
      PATH,
      described({ summary: 'Names of the secrets of the tenant', answers: { 200: SecretsSchema } }),
      ask(service, async ({ api }) => ({ secrets: await api.list() })),
    )
    own.put(
      `${PATH}/:name`,
      described({
        summary: 'Give a secret, or another value to one',
        params: ['name'],
        body: ValueSchema,
        answers: { 200: SecretSchema, 201: SecretSchema },
      }),
      ask(service, async ({ api, param, body, reply }) => {
        const { secret, created } = await api.put(param('name'), valueOf(body))
        return reply.code(created ? 201 : 200).send(secret)
      }),
    )
    own.delete(
      `${PATH}/:name`,
      described({ summary: 'Take a secret away', params: ['name'], answers: { 204: Type.Null() } }),
      ask(service, async ({ api, param, reply }) => {
        await api.remove(param('name'))
        return reply.code(204).send()
      }),
    )
  })
}

/** The service checks the value; what else stands there is not told back. */
function valueOf(body: unknown): string {
  if (!isPlainObject(body) || Object.keys(body).join() !== 'value')
    throw new AppError('VALIDATION', 'send an object with the value of the secret alone: { "value": "..." }')
  return body['value'] as string
}
