CREATE FUNCTION tpcc_customer(p_w int, p_d int, p_name text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_ids int[];
BEGIN
  SELECT array_agg(c_id ORDER BY c_first) INTO v_ids FROM customer
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_name;
  RETURN v_ids[(cardinality(v_ids) + 1) / 2];
END
$$

CREATE PROCEDURE tpcc_new_order(
  p_w int, p_d int, p_c int, p_all_local int, p_lines text, INOUT p_result int)
LANGUAGE plpgsql AS $$
DECLARE
  v_count int := length(p_lines) / 15;
  v_order int;
  v_item int;
  v_supply int;
  v_quantity int;
  v_held int;
  v_price numeric;
  v_info text;
  v_read record;
BEGIN
  SELECT w_tax INTO STRICT v_read FROM warehouse WHERE w_id = p_w;
  SELECT c_discount INTO STRICT v_read FROM customer
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  SELECT d_next_o_id, d_tax INTO STRICT v_order, v_price FROM district
    WHERE d_w_id = p_w AND d_id = p_d{lock};
  UPDATE district SET d_next_o_id = v_order + 1 WHERE d_w_id = p_w AND d_id = p_d;
  INSERT INTO orders
    (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (v_order, p_d, p_w, p_c, CURRENT_TIMESTAMP, NULL, v_count, p_all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_order, p_d, p_w);
  FOR v_line IN 1..v_count LOOP
    v_item := substr(p_lines, 15 * v_line - 14, 7)::int;
    v_supply := substr(p_lines, 15 * v_line - 7, 6)::int;
    v_quantity := substr(p_lines, 15 * v_line - 1, 2)::int;
    SELECT i_price INTO v_price FROM item WHERE i_id = v_item;
    IF NOT FOUND THEN
      ROLLBACK;
      p_result := 0;
      RETURN;
    END IF;
    SELECT s_quantity, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
      WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07
      WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
      INTO STRICT v_held, v_info FROM stock WHERE s_w_id = v_supply AND s_i_id = v_item{lock};
    UPDATE stock SET
      s_quantity = v_held - v_quantity + CASE WHEN v_held >= v_quantity + 10 THEN 0 ELSE 91 END,
      s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + (v_supply <> p_w)::int
      WHERE s_w_id = v_supply AND s_i_id = v_item;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
      ol_quantity, ol_amount, ol_dist_info)
      VALUES (v_order, p_d, p_w, v_line, v_item, v_supply, v_quantity, v_price * v_quantity, v_info);
  END LOOP;
  p_result := 1;
END
$$

CREATE PROCEDURE tpcc_payment(
  p_w int, p_d int, p_cw int, p_cd int, p_c int, p_name text, p_amount numeric)
LANGUAGE plpgsql AS $$
DECLARE
  v_c int := p_c;
  v_warehouse text;
  v_district text;
  v_customer record;
  v_data text;
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w;
  SELECT w_name INTO STRICT v_warehouse FROM warehouse WHERE w_id = p_w;
  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d;
  SELECT d_name INTO STRICT v_district FROM district WHERE d_w_id = p_w AND d_id = p_d;
  IF p_name IS NOT NULL THEN
    v_c := tpcc_customer(p_cw, p_cd, p_name);
  END IF;
  SELECT c_balance, c_ytd_payment, c_payment_cnt, c_credit INTO STRICT v_customer
    FROM customer WHERE c_w_id = p_cw AND c_d_id = p_cd AND c_id = v_c{lock};
  IF v_customer.c_credit = 'BC' THEN
    SELECT c_data INTO STRICT v_data FROM customer
      WHERE c_w_id = p_cw AND c_d_id = p_cd AND c_id = v_c{lock};
    UPDATE customer SET c_balance = v_customer.c_balance - p_amount,
      c_ytd_payment = v_customer.c_ytd_payment + p_amount,
      c_payment_cnt = v_customer.c_payment_cnt + 1,
      c_data = left(concat_ws(' ', v_c, p_cd, p_cw, p_d, p_w, p_amount, v_data), 500)
      WHERE c_w_id = p_cw AND c_d_id = p_cd AND c_id = v_c;
  ELSE
    UPDATE customer SET c_balance = v_customer.c_balance - p_amount,
      c_ytd_payment = v_customer.c_ytd_payment + p_amount,
      c_payment_cnt = v_customer.c_payment_cnt + 1
      WHERE c_w_id = p_cw AND c_d_id = p_cd AND c_id = v_c;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (v_c, p_cd, p_cw, p_d, p_w, CURRENT_TIMESTAMP, p_amount,
      v_warehouse || '    ' || v_district);
END
$$

CREATE PROCEDURE tpcc_order_status(p_w int, p_d int, p_c int, p_name text)
LANGUAGE plpgsql AS $$
DECLARE
  v_c int := p_c;
  v_order int;
  v_read record;
BEGIN
  IF p_name IS NOT NULL THEN
    v_c := tpcc_customer(p_w, p_d, p_name);
  END IF;
  SELECT c_balance, c_first, c_middle, c_last INTO STRICT v_read FROM customer
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c;
  SELECT o_id INTO STRICT v_order FROM orders
    WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c ORDER BY o_id DESC LIMIT 1;
  PERFORM ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_order;
END
$$

CREATE PROCEDURE tpcc_delivery(p_w int, p_carrier int, INOUT p_result int)
LANGUAGE plpgsql AS $$
DECLARE
  v_order int;
  v_c int;
  v_amount numeric;
BEGIN
  p_result := 0;
  FOR v_d IN 1..10 LOOP
    SELECT no_o_id INTO v_order FROM new_order
      WHERE no_w_id = p_w AND no_d_id = v_d ORDER BY no_o_id LIMIT 1{lock};
    IF FOUND THEN
      DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_order;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'another delivery has taken the order' USING ERRCODE = '40001';
      END IF;
      SELECT o_c_id INTO STRICT v_c FROM orders
        WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_order{lock};
      UPDATE orders SET o_carrier_id = p_carrier
        WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_order;
      UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
        WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_order;
      SELECT SUM(ol_amount) INTO STRICT v_amount FROM order_line
        WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_order;
      UPDATE customer SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c;
      p_result := p_result + 1;
    END IF;
  END LOOP;
END
$$

CREATE PROCEDURE tpcc_stock_level(p_w int, p_d int, p_threshold int)
LANGUAGE plpgsql AS $$
DECLARE
  v_next int;
  v_low bigint;
BEGIN
  SELECT d_next_o_id INTO STRICT v_next FROM district WHERE d_w_id = p_w AND d_id = p_d;
  SELECT COUNT(DISTINCT s_i_id) INTO v_low FROM order_line, stock
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20
    AND s_w_id = p_w AND s_i_id = ol_i_id AND s_quantity < p_threshold;
END
$$
