/** How errors of webscripts look, for readers. */
import { Type } from 'typebox'

export const ErrorSchema = Type.Object(
  { error: Type.String(), code: Type.String(), statusCode: Type.Integer() },
  { additionalProperties: true, title: 'WebscriptError' },
)
