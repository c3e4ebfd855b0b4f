/** What a constraint says about one attribute. */
export interface Attribute {
  readonly name: string
  readonly required: boolean
  readonly type: AttributeType
}

export type AttributeType =
  | { readonly type: 'numeric'; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: 'string'; readonly minLength?: number; readonly maxLength?: number }
  | { readonly type: 'boolean' }
  | { readonly type: 'enum'; readonly enumType: 'numeric' | 'string'; readonly items: readonly (number | string)[] }
  | {
      readonly type: 'resourceRef'
      /** keys that the reference must have beside `$ref` */
      readonly attributes?: readonly string[]
      /** ids of types of which the resource must be one */
      readonly resourceTypes?: readonly string[]
      /** whether the resource must be there */
      readonly exists?: boolean
    }
  | { readonly type: 'object'; readonly attributes?: readonly Attribute[] }
  | {
      readonly type: 'array'
      readonly elementType?: AttributeType
      readonly minLength?: number
      readonly maxLength?: number
      readonly uniqueValues?: boolean
      /** all of them must be among the values */
      readonly contains?: readonly (number | string | boolean)[]
    }

export const ATTRIBUTE_TYPES = ['numeric', 'string', 'boolean', 'enum', 'resourceRef', 'object', 'array'] as const
