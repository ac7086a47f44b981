import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('form_posts')
export class FormPostEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @PrimaryColumn('text')
  readonly nonce: string;

  /** Null while what it asks for is being done. */
  @Column('text', { nullable: true })
  readonly location: string | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;
}
