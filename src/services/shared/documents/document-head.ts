/** Fields that services add to named documents in responses. */
import { Type } from 'typebox'
import type { Decoded } from '../api/fields.ts'

const Text = Type.String()
const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })

export const DOCUMENT_HEAD = {
  name: Text,
  revision: Type.Integer({ minimum: 1, description: 'incremented by each write; the ETag for If-Match' }),
  user: Type.String({ description: 'who wrote it last' }),
  createTime: IsoTime,
  lastUpdateTime: IsoTime,
}

const HeadSchema = Type.Object(DOCUMENT_HEAD)
/** Times are ISO 8601. */
export interface DocumentHead extends Decoded<typeof HeadSchema> {}
