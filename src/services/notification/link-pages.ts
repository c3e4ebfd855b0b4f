/** Pages of links that acknowledge alarms: a GET shows a button, and only its POST acts. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { escapeMarkup } from '#kernel'
import type { InternalNotification, LinkState } from './contract.ts'
import { LINK_PATH } from './service.ts'

const TEXTS: Readonly<Record<LinkState['state'], readonly [status: number, title: string, text: string]>> = {
  open: [200, 'Acknowledge', 'Acknowledge these alarms?'],
  done: [200, 'Acknowledged', 'These alarms are acknowledged.'],
  used: [409, 'Already used', 'This link was used before, and its alarms are acknowledged.'],
  cleared: [409, 'Already cleared', 'These alarms are cleared, so they cannot be acknowledged.'],
  expired: [410, 'Expired', 'This link has expired. Acknowledge the alarms in the console.'],
  invalid: [404, 'Unknown link', 'This link is not valid. Check that it was copied completely.'],
}

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
} as const

const STYLE =
  'body{font:16px/1.5 system-ui;max-width:40em;margin:3em auto;padding:0 1em}button{font:inherit;padding:.5em 1.5em}'

/** `of`: returns the service of the tenant that a token names; undefined for a token without a valid signature. */
export async function linkPages(
  app: FastifyInstance,
  of: (token: string) => InternalNotification | undefined,
): Promise<void> {
  await app.register((child, _options, done) => {
    // the form has no fields; the token in the path is the whole authority
    child.removeAllContentTypeParsers()
    child.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, parsed) => parsed(null))
    const params = Type.Object({ token: Type.String({ description: 'signed by the host' }) })
    const response = { '2xx': Type.String({ description: 'a page' }), '4xx': Type.String({ description: 'a page' }) }
    const produces = ['text/html']
    const common = { tags: ['notification'], security: [], params, produces, response }
    const config = { scope: 'public' } as const
    const path = `${LINK_PATH}/:token`
    child.get<{ Params: { token: string } }>(
      path,
      { config, schema: { ...common, summary: 'The page of a link that acknowledges alarms' } },
      async ({ params: { token } }, reply) => send(reply, (await of(token)?.linked(token)) ?? { state: 'invalid' }),
    )
    child.post<{ Params: { token: string } }>(
      path,
      { config, schema: { ...common, summary: 'Acknowledge the alarms of a link, once' } },
      async ({ params: { token } }, reply) => send(reply, (await of(token)?.useLink(token)) ?? { state: 'invalid' }),
    )
    done()
  })
}

function send(reply: FastifyReply, { state, notification }: LinkState): FastifyReply {
  const [status, title, text] = TEXTS[state]
  const items = (notification?.alarms ?? []).map(
    ({ severity, type, source, text: words }) =>
      `<li>${escapeMarkup(`${severity} ${type} at ${source}: ${words}`)}</li>`,
  )
  const button = state === 'open' ? '<form method="post"><button>Acknowledge</button></form>' : ''
  const page =
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style><h1>${title}</h1><p>${text}</p><ul>${items.join('')}</ul>${button}`
  return reply.code(status).headers(HEADERS).send(page)
}
